package enrich_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
)

// answer records what a person says.
func (w *world) answer(word enrich.Word) error {
	w.Helper()
	word.AccountID, word.By = account, "ada"
	return w.q.DB().Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.service.Answer(ctx, tx, word)
	})
}

// guessing is a model that is not sure of the category, and says another one each time.
func guessing() *model {
	return &model{answer: func(n int, stages []string) (postroom.ModelAnswer, error) {
		if len(stages) == 1 && stages[0] == "category" {
			return unsure([]string{"work", "personal", "social"}[n-1]), nil
		}
		return answers(stages...), nil
	}}
}

// guessed is the configuration of a world in which only the category is guessed.
func guessed(m *model) func(*enrich.Config) {
	return func(c *enrich.Config) { c.Model, c.Stages = m, []enrich.Stage{enrich.StageCategory} }
}

// What is unsure is stored and listed, and holds nothing up; a person takes it as it is.
func TestWhatIsUnsureIsAnswered(t *testing.T) {
	asked := guessing()
	eachWorld(t, guessed(asked), func(t *testing.T, w *world) {
		asked.asked = nil
		e := w.told(letter("m", "ada@else.example", "Hello."))
		require.Equal(t, enrich.StatePendingApproval, e.State)
		require.Equal(t, "work", e.Category)
		require.Equal(t, []enrich.Stage{enrich.StageCategory}, e.Unsure)
		require.False(t, e.Stands(enrich.StageCategory))
		require.Equal(t, []string{"m"}, w.list(enrich.Filter{AccountID: account, Unsure: true}))

		require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory, Approve: true}))
		w.work()
		e = w.get("m")
		require.Equal(t, enrich.StateCompleted, e.State)
		require.True(t, e.Stands(enrich.StageCategory))
		require.Equal(t, "work", e.Category)
		require.Equal(t, enrich.ByPerson, e.CategoryTold.By)
		require.Contains(t, e.CategoryTold.Reasoning, "ada")
		require.Empty(t, w.list(enrich.Filter{AccountID: account, Unsure: true}))
		require.Equal(t, []string{"m completed", "m pending_approval"}, w.sortedEnds())
		require.Len(t, asked.stages(), 1)
	})
}

// A denial goes back with its reason, once.
func TestADenialGoesBackOnce(t *testing.T) {
	asked := guessing()
	w := sqliteWorld(t, guessed(asked))
	w.told(letter("m", "ada@else.example", "Hello."))
	require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory, Why: "She is my aunt."}))
	require.Equal(t, enrich.StateProcessing, w.get("m").State)
	require.ErrorIs(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory}), enrich.ErrWord,
		"it is asked about")
	w.work()
	e := w.get("m")
	require.Equal(t, "personal", e.Category)
	require.Equal(t, enrich.StatePendingApproval, e.State)
	require.Equal(t, enrich.Denial{Value: "work", Why: "She is my aunt.", By: "ada"}, e.Denials[enrich.StageCategory])
	require.Equal(t, 2, e.Calls)
	require.Contains(t, asked.asked[1].Task, `You said "work" before, and the person has rejected that.`)
	require.Contains(t, asked.asked[1].Task, "She is my aunt.")

	require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory}))
	w.work()
	e = w.get("m")
	require.Empty(t, e.Category)
	require.Equal(t, enrich.ByNone, e.CategoryTold.By)
	require.Equal(t, enrich.StateCompleted, e.State)
	require.Len(t, asked.stages(), 2)
	require.ErrorIs(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory}), enrich.ErrWord,
		"there is nothing to reject")

	require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory, Value: "Social"}))
	w.work()
	require.Equal(t, "social", w.get("m").Category)
	require.Equal(t, []string{"m completed", "m completed", "m pending_approval", "m pending_approval"}, w.sortedEnds())
}

// What a form tells may be wrong, too: the model is asked about the stage that was rejected, and about no other.
func TestWhatAFormTellsCanBeRejected(t *testing.T) {
	asked := &model{}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	w.told(newsletter("m"))
	require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageImportance, Why: "I wait for it."}))
	w.work()
	require.Equal(t, [][]string{{"importance"}}, asked.stages())
	require.Equal(t, "high", w.get("m").Level)
	require.Equal(t, enrich.ByModel, w.get("m").ImportanceTold.By)
	require.Equal(t, "newsletters", w.get("m").Category)
}

// A person who says the level has not said that the mail asks for something: what was sure stays, what was unsure goes.
func TestALevelDoesNotMakeActionItemsSure(t *testing.T) {
	sure := "0.9"
	asked := &model{answer: func(int, []string) (postroom.ModelAnswer, error) {
		return postroom.ModelAnswer{JSON: fmt.Appendf(nil, `{"importance": {"level": "high", "score": 0.8, "confidence": %s,
			"reasoning": "Perhaps.", "action_items": [{"text": "Pay", "due": ""}]}}`, sure)}, nil
	}}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model, c.Stages = asked, []enrich.Stage{enrich.StageImportance} })
	for _, test := range []struct {
		id, sure string
		word     enrich.Word
		items    int
	}{
		{"a", "0.9", enrich.Word{Value: "normal"}, 1}, {"b", "0.5", enrich.Word{Value: "normal"}, 0},
		{"c", "0.5", enrich.Word{Value: "high"}, 0}, {"d", "0.5", enrich.Word{Approve: true}, 1},
	} {
		sure = test.sure
		w.told(letter(test.id, "ada@else.example", "Hello."))
		test.word.MessageID, test.word.Stage = test.id, enrich.StageImportance
		require.NoError(t, w.answer(test.word))
		require.True(t, w.get(test.id).Stands(enrich.StageImportance), test.id)
		require.Len(t, w.get(test.id).ActionItems, test.items, test.id)
	}
}

// Text of the mail does not come into the question by way of what was found in it.
func TestADenialOfAnEventSaysOnlyWhen(t *testing.T) {
	asked := &model{}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	w.told(letter("m", "ada@else.example", question))
	require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCalendar}))
	w.work()
	require.Contains(t, asked.asked[1].Task, `You said "an appointment at 2026-03-06T14:00" before`)
	for _, q := range asked.asked {
		require.NotContains(t, q.Task, "Room 1")
		require.NotContains(t, q.Task, "Send the plan")
	}
}

func TestAWordThatCannotBeTaken(t *testing.T) {
	w := sqliteWorld(t, func(c *enrich.Config) {
		c.Model = &model{answer: func(int, []string) (postroom.ModelAnswer, error) {
			return postroom.ModelAnswer{}, errors.Join(decide.ErrNoAnswer)
		}}
	})
	w.arrive(letter("m", "ada@else.example", question), nil)
	word := func(stage enrich.Stage, approve bool, value string) error {
		return w.answer(enrich.Word{MessageID: "m", Stage: stage, Approve: approve, Value: value})
	}
	require.ErrorContains(t, word(enrich.StageCategory, true, ""), "has not ended")
	w.work()
	require.ErrorContains(t, word(enrich.StageUnsubscribe, true, ""), "is no stage that a person answers about")
	require.ErrorContains(t, word(enrich.StageCategory, true, ""), "nothing was found")
	require.ErrorContains(t, word(enrich.StageCategory, false, "none"), `"none" is none of the categories`)
	require.ErrorContains(t, word(enrich.StageImportance, false, "none"), `"none" is none of the levels`)
	require.ErrorContains(t, word(enrich.StageCalendar, false, "none"), "takes no value")
	require.ErrorIs(t, w.answer(enrich.Word{MessageID: "x", Stage: enrich.StageCategory}), postroom.ErrNotFound)
	require.Equal(t, enrich.StateDeadLetter, w.get("m").State)
	for stage, value := range map[enrich.Stage]string{enrich.StageCategory: "work", enrich.StageImportance: "normal"} {
		require.NoError(t, word(stage, false, value))
	}
	w.work()
	e := w.get("m")
	require.Equal(t, "work", e.Category)
	require.Equal(t, "normal", e.Level)
	require.InDelta(t, 0.3, e.Score, 0)
	require.Len(t, e.Faults, 1, "what a person says is no fault any more")
}
