package decide_test

import (
	"strings"
	"testing"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/stretchr/testify/require"
)

func TestCallsAreFoundByWhatTheyWereAbout(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		bad := llmtest.Says("I would " + strings.Repeat("archive ", 2000) + "\x00")
		client, r := recordingClient(t, db, llmtest.NewScripted(t, bad, llmtest.Decides("archive", "{}", 1),
			llmtest.Decides("star", "{}", 1)))
		d := newDecider(t, decide.Config{Client: client})
		first, second := mail("one"), mail("two")
		first.AccountID, second.AccountID, second.ID = "a", "a", "m2"
		for _, m := range []*postroom.Message{first, second, first} {
			_, err := d.Decide(t.Context(), m)
			require.NoError(t, err)
		}
		calls, err := r.CallsAbout(t.Context(), "a", "m1", 100)
		require.NoError(t, err)
		require.Len(t, calls, 4, "two, and the two that are kept")
		require.Equal(t, llm.Cached, calls[3].State)
		require.Less(t, len(calls[0].Answer), 8010)
		require.Contains(t, calls[1].Answer, `record_decision {"decision":{"action":"archive"`)
		require.Equal(t, calls[1].Answer, calls[3].Answer)

		now, err := d.Prompt(t.Context(), first)
		require.NoError(t, err)
		for _, c := range calls {
			require.Equal(t, now.Hash, c.Prompt, "what was asked would be asked again, corrections included")
		}
		first.BodyPlain = "other"
		now, err = d.Prompt(t.Context(), first)
		require.NoError(t, err)
		require.NotEqual(t, now.Hash, calls[0].Prompt)
		var names []string
		for _, l := range now.Layers {
			names = append(names, l.Name)
		}
		require.Equal(t, []string{"SYSTEM", "MESSAGE CONTEXT", "TASK"}, names)

		none, err := r.CallsAbout(t.Context(), "b", "m1", 100)
		require.NoError(t, err)
		require.Empty(t, none, "they are another account's")
	})
}
