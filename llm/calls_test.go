package llm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// Calls are listed from the newest to the oldest by a cursor, also those of one model or one account.
func TestCallsAreListedByPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t, spends("1", 1, 1), spends("2", 1, 1),
			spends("3", 1, 1))})
		for _, account := range []string{"a", "b", "a"} {
			_, err := m.Complete(t.Context(), asks(account, strings.Repeat(account, len(allCalls(t, r))+1)))
			require.NoError(t, err)
		}
		page := func(f llm.CallFilter) (answers []string, last string) {
			calls, err := r.Newest(t.Context(), f)
			require.NoError(t, err)
			for _, c := range calls {
				answers, last = append(answers, c.Answer), c.ID
			}
			return answers, last
		}
		first, last := page(llm.CallFilter{Model: "acme::small", Limit: 2})
		require.Equal(t, []string{"3", "2"}, first)
		rest, _ := page(llm.CallFilter{Model: "acme::small", Limit: 2, Before: last})
		require.Equal(t, []string{"1"}, rest)
		own, _ := page(llm.CallFilter{AccountID: "a"})
		require.Equal(t, []string{"3", "1"}, own)
		both, _ := page(llm.CallFilter{AccountID: "a", Model: "acme::other"})
		require.Empty(t, both)
		one, err := r.Call(t.Context(), last)
		require.NoError(t, err)
		require.Equal(t, "2", one.Answer)
		_, err = r.Call(t.Context(), "none")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = r.Newest(t.Context(), llm.CallFilter{Limit: 1000})
		require.ErrorContains(t, err, "CallFilter.Limit is 1000")
	})
}

// An answer that a host gives again names the call that had made it, if that is still on record.
func TestAReuseNamesTheCallThatHadAnswered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t, spends("archive it", 1, 1))})
		req := asks("a", "a newsletter")
		req.About = "message-1"
		_, err := m.Complete(t.Context(), req)
		require.NoError(t, err)
		made := allCalls(t, r)[0]
		again := llm.ReusedAnswer{AccountID: "a", Purpose: "test", Model: "acme::small", About: "message-2", Of: "message-1",
			Answer: "archive", Why: llm.SameTemplate}
		require.NoError(t, r.RecordReuse(t.Context(), again))
		again.Of = "message-0"
		require.NoError(t, r.RecordReuse(t.Context(), again))
		calls := allCalls(t, r)[1:]
		require.Len(t, calls, 2)
		require.Equal(t, llm.Cached, calls[0].State)
		require.Equal(t, made.ID, calls[0].ReusedFrom)
		require.Equal(t, llm.SameTemplate, calls[0].ReusedWhy)
		require.Equal(t, "message-2", calls[0].About)
		require.Empty(t, calls[1].ReusedFrom, "its record is pruned")
	})
}
