package jobsql_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// written is what an insert writes of a job, by column.
func written(job driver.InsertJob, now time.Time) map[string]string {
	j := jobsql.NewJobOf(&job, now)
	values := make(map[string]string)
	for _, c := range jobsql.Inserted {
		switch {
		case c.IsNull(&j):
			values[c.Name] = "NULL"
		case c.Text != nil:
			values[c.Name] = c.SQL(jobsql.Fixed(c.Text(&j)), "")
		case c.Number != nil:
			values[c.Name] = strconv.Itoa(c.Number(&j))
		case c.Instant != nil:
			values[c.Name] = c.Instant(&j).String()
		default:
			values[c.Name] = c.SQL(c.Same, "")
		}
	}
	return values
}

// What a caller says of a new job is written by the column of its field, and by no other but the hold.
func TestEveryFieldOfANewJobIsInserted(t *testing.T) {
	now := time.Now()
	empty := written(driver.InsertJob{}, now)
	byItself := map[string][]string{"Period": nil} // in the table of keys
	var given driver.InsertJob
	said := []reflect.Value{reflect.ValueOf(&given.Options)}
	for _, field := range []any{&given.ID, &given.Type, &given.Payload, &given.TraceParent} {
		said = append(said, reflect.ValueOf(field))
	}
	check := func(name string, field reflect.Value) {
		t.Helper()
		fill(field, now)
		changed := []string{}
		for column, value := range written(given, now) {
			if value != empty[column] && column != "hold" {
				changed = append(changed, column)
			}
		}
		if _, ok := byItself[name]; !ok {
			require.Len(t, changed, 1, name)
			require.Equal(t, field.Addr().Pointer(), reflect.ValueOf(jobsql.FieldOf(changed[0], &given.Job)).Pointer(),
				name)
		}
		plain := jobsql.NewJobOf(&given, now)
		nulls := slices.ContainsFunc(jobsql.Inserted, func(c jobsql.InsertColumn) bool {
			return c.Nullable &&
				slices.Contains(changed, c.Name)
		})
		require.Equal(t, !nulls && plain.Hold == driver.HoldNone, plain.Plain(), name)
		field.SetZero()
	}
	for _, value := range said {
		if value.Elem().Kind() == reflect.Struct {
			leaves(value.Elem(), check)
			continue
		}
		check(value.Type().String(), value.Elem())
	}
}

// fill gives a field a value that is not its zero one; an instant after now.
func fill(field reflect.Value, now time.Time) {
	switch f := field.Addr().Interface().(type) {
	case *time.Time:
		*f = now.Add(time.Hour)
	case *[]string:
		*f = []string{"a"}
	case *json.RawMessage:
		*f = json.RawMessage("1")
	case *bool:
		*f = true
	default:
		if field.Kind() == reflect.String {
			field.SetString("x")
		} else {
			field.SetInt(1)
		}
	}
}

func TestTheHoldOfANewJob(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		options driver.Options
		want    driver.Hold
	}{
		"due":           {driver.Options{}, driver.HoldNone},
		"a time past":   {driver.Options{NotBefore: now.Add(-time.Hour)}, driver.HoldNone},
		"a time to be":  {driver.Options{NotBefore: now.Add(time.Hour)}, driver.HoldScheduled},
		"limited":       {driver.Options{LimitKey: "l"}, driver.HoldLimited},
		"limited later": {driver.Options{LimitKey: "l", NotBefore: now.Add(time.Hour)}, driver.HoldScheduled},
	} {
		job := driver.InsertJob{Job: driver.Job{Options: c.options}}
		require.Equal(t, strconv.Itoa(int(c.want)), written(job, now)["hold"], name)
	}
}

// What is not the caller's to say is that of a new job, whatever the request holds.
func TestTheRestOfANewJobIsNotThatOfTheRequest(t *testing.T) {
	now := time.Now()
	var given driver.InsertJob
	leaves(reflect.ValueOf(&given.Job).Elem(), func(_ string, field reflect.Value) { fill(field, now) })
	only := driver.InsertJob{Job: driver.Job{
		ID: given.ID, Type: given.Type, Payload: given.Payload, Options: given.Options, Node: given.Node,
		TraceParent: given.TraceParent,
	}}
	require.Equal(t, written(only, now), written(given, now))
}

// A plain job has in each column what plain jobs are said to have.
func TestPlainJobsHaveWhatIsFixed(t *testing.T) {
	now := time.Now()
	values := written(driver.InsertJob{Job: driver.Job{ID: "x"}}, now)
	for _, c := range jobsql.Inserted {
		if c.Plain != "" {
			require.Equal(t, c.SQL(c.Plain, now.String()), values[c.Name], c.Name)
		}
		if c.Same != "" {
			require.Equal(t, c.SQL(c.Same, now.String()), values[c.Name], c.Name)
		}
		require.False(t, c.Nullable && values[c.Name] != "NULL", c.Name)
	}
}

// No insert names its columns by hand, whichever engine it is of, and none is positional.
func TestInsertsAreMadeOfTheTableOfColumns(t *testing.T) {
	byHand := regexp.MustCompile(
		`(?i)(INSERT INTO|COPY) jobs\s*\(\s*\w|max_attempts, (worker_id|created_at|idempotency_key)|idempotency_key, key_scope, limit_key, user_id`)
	var named []string
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if found := byHand.FindString(string(source)); found != "" {
			named = append(named, filepath.Base(path))
		}
		return err
	}))
	require.Empty(t, named)
}
