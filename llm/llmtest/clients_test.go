package llmtest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func question(text string, random ...string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}, Random: random}
}

func TestReplayedAnswersAsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exchanges.json")
	full := &llm.Error{Provider: "acme", Status: 529, Reason: llm.ErrOverloaded, Err: errors.New("busy")}
	recorder := llmtest.NewRecorder(llmtest.NewScripted(t, llmtest.Says("one"), llmtest.Fails(full),
		llmtest.Says("two")), path)
	first, err := recorder.Complete(t.Context(), question("a <x7>", "x7"))
	require.NoError(t, err)
	_, err = recorder.Complete(t.Context(), question("b"))
	require.ErrorIs(t, err, llm.ErrOverloaded)
	_, err = recorder.Complete(t.Context(), question("b"))
	require.NoError(t, err)

	replayed := llmtest.NewReplayed(t, path)
	again, err := replayed.Complete(t.Context(), question("a <y8>", "y8"))
	require.NoError(t, err)
	require.Equal(t, first, again, "random strings do not count")
	_, err = replayed.Complete(t.Context(), question("b"))
	require.EqualError(t, err, full.Error())
	require.ErrorIs(t, err, llm.ErrOverloaded)
	for range 2 {
		resp, err := replayed.Complete(t.Context(), question("b"))
		require.NoError(t, err)
		require.Equal(t, "two", resp.Text)
	}
}

func TestReplayedFailsTheTestOnWhatWasNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exchanges.json")
	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	r := &recorder{TB: t}
	_, err := llmtest.NewReplayed(r, path).Complete(t.Context(), question("c"))
	require.ErrorIs(t, err, llm.ErrBadRequest)
	require.Len(t, r.faults, 1)
}

func TestUnreliableFailsTheSameCalls(t *testing.T) {
	outcomes := func() (failed []bool) {
		client := llmtest.NewUnreliable(llmtest.Obedient{}, 0.3, 7)
		for range 1000 {
			_, err := client.Complete(t.Context(), question("x"))
			failed = append(failed, err != nil)
		}
		require.InDelta(t, 300, client.Failed(), 60)
		require.Equal(t, map[string]int{question("x").Fingerprint(): 1000 - client.Failed()}, client.Answered())
		return failed
	}
	require.Equal(t, outcomes(), outcomes())
}

func TestSlowTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := llmtest.Slow{Client: llmtest.Obedient{}, After: time.Hour}.Complete(t.Context(), question("x"))
		require.NoError(t, err)
		require.Equal(t, time.Hour, time.Since(begin))
	})
}
