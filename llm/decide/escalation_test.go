package decide_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func better(t *testing.T, first, second []llmtest.Turn) *decide.Decider {
	t.Helper()
	return newDecider(t, decide.Config{Client: llmtest.NewScripted(t, first...),
		Escalation: llmtest.NewScripted(t, second...)})
}

func turns(all ...llmtest.Turn) []llmtest.Turn { return all }

func TestTheBetterModelIsAskedWhenTheFirstIsNotSure(t *testing.T) {
	archive := func(confidence float64) llmtest.Turn { return llmtest.Decides("archive", "{}", confidence) }
	star := llmtest.Decides("star", "{}", 0.3)
	bad := llmtest.Says("no")
	for name, test := range map[string]struct {
		first, better []llmtest.Turn
		want          postroom.ActionType
	}{
		"sure":             {turns(archive(0.9)), nil, postroom.Archive},
		"just sure enough": {turns(archive(0.8)), nil, postroom.Archive},
		"not sure":         {turns(archive(0.79)), turns(star), postroom.Star},
		"no usable answer": {turns(bad, bad, bad), turns(star), postroom.Star},
		"too long for it":  {turns(failing(llm.ErrContextTooLong)), turns(star), postroom.Star},
		"refused":          {turns(failing(llm.ErrRefused)), nil, postroom.None},
	} {
		t.Run(name, func(t *testing.T) {
			d := decided(t, better(t, test.first, test.better), mail("x"))
			require.Equal(t, test.want, d.Action)
			if test.better != nil {
				require.Contains(t, fmt.Sprint(d.Explanations.SalientFeatures), "was asked first and proposed")
			}
		})
	}
}

func TestTheFirstModelsWordGoesToAPersonWhileTheBetterOneIsAway(t *testing.T) {
	unsure := llmtest.Decides("archive", "{}", 0.75)
	for _, reason := range []error{llm.ErrBadKey, llm.ErrNoModel, llm.ErrNoCredit, llm.ErrBudget} {
		d := decided(t, better(t, turns(unsure), turns(failing(reason))), mail("x"))
		require.Equal(t, postroom.Archive, d.Action)
		require.True(t, d.NeedsApproval)
		require.Contains(t, fmt.Sprint(d.Explanations.SalientFeatures), "the escalation model could not be asked: "+
			reason.Error())
	}
	for _, reason := range []error{llm.ErrRateLimited, llm.ErrOverloaded, llm.ErrUnavailable} {
		_, err := better(t, turns(unsure), turns(failing(reason))).Decide(t.Context(), mail("x"))
		require.ErrorIs(t, err, reason, "it is back soon")
	}
}

func TestTheFirstModelsFailureIsNotAskedOfTheBetterOne(t *testing.T) {
	_, err := better(t, turns(failing(llm.ErrOverloaded)), nil).Decide(t.Context(), mail("x"))
	require.ErrorIs(t, err, llm.ErrOverloaded)
	_, err = better(t, turns(failing(llm.ErrBadRequest)), nil).Decide(t.Context(), mail("x"))
	require.ErrorIs(t, err, llm.ErrBadRequest)
}

func TestABadBetterIsRefused(t *testing.T) {
	_, err := decide.New(decide.Config{Client: llmtest.Obedient{}, Escalation: (*llmtest.Scripted)(nil)})
	require.ErrorContains(t, err, "Config.Escalation")
	_, err = decide.New(decide.Config{Client: llmtest.Obedient{}, EscalateBelow: 1.1})
	require.ErrorContains(t, err, "Config.EscalateBelow is 1.1")
}
