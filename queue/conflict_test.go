package queue_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestKeyConflictShowsTheDifference(t *testing.T) {
	type list []any
	type object map[string]any
	long := strings.Repeat("ü", 200)
	for name, c := range map[string]struct {
		held, given any
		hint        string
	}{
		"a scalar":          {1, 2, "payload is 1 there, 2 here"},
		"another kind":      {object{"a": 1}, list{1}, `payload is {"a":1} there, [1] here`},
		"the first member":  {object{"b": 1, "a": object{"x": true}}, object{"b": 2, "a": object{"x": false}}, "payload.a.x is true there, false here"},
		"an element":        {list{1, object{"to": "ann"}}, list{1, object{"to": "bob"}}, `payload[1].to is "ann" there, "bob" here`},
		"a member too few":  {object{"a": 1}, object{}, "payload.a is 1 there, absent here"},
		"an element more":   {list{}, list{nil}, "payload[0] is absent there, null here"},
		"long values":       {long, long + "!", `payload is "` + long[:79*2] + `… there, "` + long[:79*2] + "… here"},
		"numbers of a size": {12345678901234567, 12345678901234568, "payload is 12345678901234567 there, 12345678901234568 here"},
	} {
		t.Run(name, func(t *testing.T) {
			q := queuetest.New(t)
			opts := &queue.Options{Key: queue.Forever("k")}
			held, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: c.held, Options: *opts})
			require.NoError(t, err)
			_, err = q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: c.given, Options: *opts})
			require.ErrorIs(t, err, queue.ErrKeyConflict)
			var e *queue.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, held.ID, e.JobID)
			require.Equal(t, c.hint+"; use another key", e.Hint)
		})
	}
}

func TestKeyConflictNamesTheOtherType(t *testing.T) {
	q := queuetest.New(t)
	enqueue(t, q, &queue.Options{Key: queue.Forever("k")})
	_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "pong", Payload: 1, Options: queue.Options{Key: queue.Forever("k")}})
	require.ErrorContains(t, err, "(that job is of type ping, this one of type pong; use another key)")
}
