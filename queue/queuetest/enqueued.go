package queuetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// RequireEnqueued fails the test unless the queue has exactly one job, in any state, that is like want, and returns it:
//
//	queuetest.RequireEnqueued(t, q, Greet.New(Greeting{Name: "Ada"}, &queue.Options{Priority: 3}))
//
// It is like want if it has its type, its payload (as JSON; any, if want.Payload is nil), and each of its options that
// is not zero; of its tags, all those of want. Of a Key, the name and the scope are compared, and of one by
// [queue.UniqueBy] only the scope. It works on any queue.
func RequireEnqueued(t testing.TB, q *queue.Queue, want queue.NewJob) *queue.Job {
	t.Helper()
	like, others := enqueued(t, q, &want)
	if len(like) != 1 {
		require.FailNow(t, fmt.Sprintf("queuetest: %d jobs are enqueued that are like %s; want one", len(like), asked(&want)),
			"all jobs of type %s:\n%s", want.Type, others)
	}
	return &like[0]
}

// RequireNotEnqueued fails the test if the queue has a job that is like want; see [RequireEnqueued].
func RequireNotEnqueued(t testing.TB, q *queue.Queue, want queue.NewJob) {
	t.Helper()
	if like, _ := enqueued(t, q, &want); len(like) > 0 {
		require.FailNow(t, "queuetest: a job is enqueued that is like "+asked(&want), "it is %s", like[0])
	}
}

// enqueued returns the jobs that are like want, and describes all of its type.
func enqueued(t testing.TB, q *queue.Queue, want *queue.NewJob) (like []queue.Job, all string) {
	t.Helper()
	var lines []string
	filter := queue.Filter{Types: []string{want.Type}, Limit: 1000}
	for {
		jobs, err := q.Jobs(t.Context(), filter)
		require.NoError(t, err)
		for i := range jobs {
			differs := difference(t, want, &jobs[i])
			if differs == "" {
				like = append(like, jobs[i])
			}
			if len(lines) < 20 {
				lines = append(lines, "  "+jobs[i].String()+orWord(differs, ", which is like it"))
			}
		}
		if len(jobs) < filter.Limit {
			return like, orWord(strings.Join(lines, "\n"), "  none")
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

func asked(want *queue.NewJob) string {
	payload, err := json.Marshal(want.Payload)
	if err != nil || want.Payload == nil {
		payload = []byte("any payload")
	}
	return want.Type + " with " + string(payload)
}

// difference says in what the job is not like want; empty if it is.
func difference(t testing.TB, want *queue.NewJob, job *queue.Job) string {
	t.Helper()
	if want.Payload != nil {
		payload, err := json.Marshal(want.Payload)
		require.NoError(t, err, "queuetest: the payload of the job to look for")
		if !sameJSON(payload, job.Payload) {
			return ", with another payload"
		}
	}
	wanted, has := reflect.ValueOf(want.Options), reflect.ValueOf(job.Options)
	for i := range wanted.NumField() {
		field := wanted.Type().Field(i).Name
		if wanted.Field(i).IsZero() || same(want, job, field) {
			continue
		}
		if !reflect.DeepEqual(wanted.Field(i).Interface(), has.FieldByName(field).Interface()) {
			return fmt.Sprintf(", with %s %v", field, has.FieldByName(field).Interface())
		}
	}
	return ""
}

// same compares the options that are not stored as they were given.
func same(want *queue.NewJob, job *queue.Job, field string) bool {
	switch field {
	case "NotBefore":
		return dbtime.Truncate(want.NotBefore).Equal(job.NotBefore)
	case "ExpiresAt":
		return dbtime.Truncate(want.ExpiresAt).Equal(job.ExpiresAt)
	case "Key":
		made := strings.HasPrefix(want.Key.Name, queue.UniqueBy())
		return want.Key.Scope == job.Key.Scope && (made || want.Key.Name == job.Key.Name)
	case "Tags":
		return !slices.ContainsFunc(want.Tags, func(tag string) bool { return !slices.Contains(job.Tags, tag) })
	}
	return false
}

// sameJSON compares numbers as they are written: as floating point, large ones that differ would be the same.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return unmarshalExactly(a, &x) == nil && unmarshalExactly(b, &y) == nil && reflect.DeepEqual(x, y)
}

func unmarshalExactly(text json.RawMessage, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(to)
}
