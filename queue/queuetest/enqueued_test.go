package queuetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A verdict takes what a test would fail with.
type verdict struct {
	testing.TB
	text string
}

func (*verdict) Helper() {}

func (v *verdict) Errorf(format string, args ...any) { v.text += fmt.Sprintf(format, args...) }

func (v *verdict) FailNow() { panic(v) }

func failure(t *testing.T, fn func(t testing.TB)) (text string) {
	t.Helper()
	v := &verdict{TB: t}
	defer func() {
		if r := recover(); r != nil && r != any(v) {
			panic(r)
		}
		text = v.text
	}()
	fn(v)
	return ""
}

func TestRequireEnqueued(t *testing.T) {
	type invoice struct{ ID int }
	const pay queue.Type[invoice] = "pay"
	q := queuetest.New(t)
	due := time.Now().Add(time.Hour)
	opts := &queue.Options{Priority: 3, NotBefore: due, ExpiresAt: due.Add(time.Hour), Tags: []string{"a", "b"},
		UserID: "ada", Key: queue.ForPeriod(queue.UniqueBy("ID"), time.Hour), Timeout: time.Minute}
	result, err := q.Enqueue(t.Context(), pay.New(invoice{17}, opts))
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), pay.New(invoice{18}, nil))
	require.NoError(t, err)

	for _, want := range []*queue.Options{nil, opts, {Tags: []string{"b"}}, {Key: queue.ForPeriod(`pay {"ID":17}`, 1)}} {
		require.Equal(t, result.ID, queuetest.RequireEnqueued(t, q, pay.New(invoice{17}, want)).ID)
	}
	hers := queue.NewJob{Type: "pay", Options: queue.Options{UserID: "ada"}}
	require.Equal(t, result.ID, queuetest.RequireEnqueued(t, q, hers).ID)
	queuetest.RequireNotEnqueued(t, q, pay.New(invoice{19}, nil))

	for want, c := range map[string]queue.NewJob{
		`0 jobs are enqueued that are like pay with {"ID":19}; want one`: pay.New(invoice{19}, nil),
		"with another payload": pay.New(invoice{19}, nil),
		"with Priority 3":      pay.New(invoice{17}, &queue.Options{Priority: 4}),
		"with NotBefore":       pay.New(invoice{17}, &queue.Options{NotBefore: due.Add(1e6)}),
		"with Tags [a b]":      pay.New(invoice{17}, &queue.Options{Tags: []string{"c"}}),
		"2 jobs are enqueued that are like pay with any payload; want one":   {Type: "pay"},
		"0 jobs are enqueued that are like other with any payload; want one": {Type: "other"},
		"none": {Type: "other"},
	} {
		require.Contains(t, failure(t, func(t testing.TB) { queuetest.RequireEnqueued(t, q, c) }), want)
	}
	require.Contains(t, failure(t, func(t testing.TB) { queuetest.RequireNotEnqueued(t, q, pay.New(invoice{17}, nil)) }),
		`a job is enqueued that is like pay with {"ID":17}`)
	require.Empty(t, failure(t, func(testing.TB) {}))

	large := 1 << 53
	_, err = q.Enqueue(t.Context(), pay.New(invoice{large}, nil))
	require.NoError(t, err)
	queuetest.RequireEnqueued(t, q, pay.New(invoice{large}, nil))
	queuetest.RequireNotEnqueued(t, q, pay.New(invoice{large + 1}, nil)) // the same as a float64
}
