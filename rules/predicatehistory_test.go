package rules_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// matchesWith reports whether a condition matches a message that came four days ago, with what other mail tells.
func matchesWith(t require.TestingT, c rules.Condition, past rules.Past) (found bool) {
	set := rules.NewSetWithFacts([]rules.Rule{rules.NewRule("r", c, postroom.Star, nil)}, nil)
	require.Empty(t, set.Broken())
	msg := &postroom.Message{From: postroom.Address{Email: "amy@a.example"}, ReceivedAt: daysAgo(4)}
	for range set.AllWith(msg, now, &rules.Facts{Past: past}) {
		found = true
	}
	explanation := set.ExplainWith(msg, now, &rules.Facts{Past: past})
	require.Equal(t, found, explanation.Rules[0].Outcome == rules.Matched)
	return found
}

func daysAgo(n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }

func TestPredicatesAboutOtherMail(t *testing.T) {
	theirs := rules.Past{Theirs: daysAgo(4)}
	asked := rules.Past{Mine: daysAgo(9), Theirs: daysAgo(4)}
	mine := rules.Past{Mine: daysAgo(3), Theirs: daysAgo(4)}
	both := rules.Past{Mine: daysAgo(3), Theirs: daysAgo(1), WrittenTo: true}
	for _, test := range []struct {
		condition string
		past      rules.Past
		want      bool
	}{
		{"{type: i_answered}", theirs, false}, {"{type: i_answered}", asked, false}, {"{type: i_answered}", mine, true},
		{"{type: i_answered}", both, true},
		{"{type: they_answered}", theirs, false}, {"{type: they_answered}", asked, true},
		{"{type: they_answered}", mine, false}, {"{type: they_answered}", both, true},
		{"{type: sender_written_to}", both, true}, {"{type: sender_written_to}", mine, false},
		{"{type: thread_quiet, value: 2d}", mine, true}, {"{type: thread_quiet, value: 2d}", both, false},
		{"{type: thread_quiet, value: 3d}", theirs, true}, {"{type: thread_quiet, value: 4d}", theirs, false},
		{"{type: since_i_wrote, value: 2d}", both, true}, {"{type: since_i_wrote, value: 2d}", theirs, false},
		{"{type: since_i_wrote, value: 3d}", mine, false},
	} {
		require.Equal(t, test.want, matchesWith(t, of(t, test.condition), test.past), "%s with %+v", test.condition,
			test.past)
	}
	set := rules.NewSetWithFacts([]rules.Rule{rules.NewRule("r", of(t, "{type: thread_quiet, value: 9d}"), postroom.Star,
		nil)}, nil)
	explained := set.ExplainWith(&postroom.Message{ReceivedAt: daysAgo(4)}, now, &rules.Facts{Past: asked})
	require.Equal(t, `it fails: thread_quiet "9d" (in the thread, you last wrote 216h0m0s ago, another 96h0m0s ago)`,
		explained.Rules[0].Reason)
	for _, wrong := range []string{`{"type":"thread_quiet"}`, `{"type":"since_i_wrote","value":"3mo"}`,
		`{"type":"i_answered","value":"x"}`} {
		_, err := rules.ParseCondition([]byte(wrong))
		require.Error(t, err, wrong)
	}
}

// Whatever was written when: who answers has written later, and what is longer ago than some days is so for fewer.
func TestWhoWaitsForWhom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		past := rules.Past{Theirs: daysAgo(rapid.IntRange(0, 4).Draw(t, "theirs"))}
		if mine := rapid.IntRange(-1, 9).Draw(t, "mine"); mine >= 0 {
			past.Mine = daysAgo(mine)
		}
		is := func(kind rules.Kind, value string) bool {
			return matchesWith(t, rulestest.Predicate(kind, value), past)
		}
		if is(rules.TheyAnswered, "") {
			require.True(t, past.Mine.Before(past.Theirs))
		}
		if is(rules.IAnswered, "") {
			require.True(t, past.Mine.After(daysAgo(4)))
		}
		n := rapid.IntRange(1, 9).Draw(t, "days")
		longer, shorter := fmt.Sprintf("%dd", n), fmt.Sprintf("%dd", n-1)
		for _, kind := range []rules.Kind{rules.ThreadQuiet, rules.SinceIWrote} {
			require.True(t, !is(kind, longer) || is(kind, shorter), kind)
		}
		if is(rules.ThreadQuiet, longer) && !past.Mine.IsZero() {
			require.True(t, is(rules.SinceIWrote, longer), "a thread is not quieter than the owner")
		}
	})
}

// history tells what it is told to, and counts.
type history struct {
	rules.Past
	err              error
	written, threads int
}

func (h *history) WrittenTo(context.Context, *postroom.Message) (bool, error) {
	h.written++
	return h.Past.WrittenTo, h.err
}

func (h *history) Thread(context.Context, *postroom.Message, time.Time) (mine, theirs time.Time, err error) {
	h.threads++
	return h.Mine, h.Theirs, h.err
}

func TestEngineAsksForTheHistoryThatItsRulesNeed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Create(t, db, s, rules.NewRule("old", rulestest.Predicate(rules.OlderThan, "1d"), postroom.Archive, nil))
		known := &history{}
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, History: known})
		require.NoError(t, err)
		msg := mailFrom("amy@example.com")
		require.Equal(t, postroom.SourceNone, decide(t, e, msg).Source)
		require.Zero(t, known.written+known.threads, "no rule asks")

		storetest.Create(t, db, s, rules.NewRule("met", rulestest.Predicate(rules.SenderWrittenTo, ""), postroom.Star, nil))
		require.Equal(t, postroom.SourceNone, decide(t, e, msg).Source)
		require.Equal(t, []int{1, 0}, []int{known.written, known.threads}, "only what the rules ask")
		_, ok, err := e.DecideUnstored(t.Context(), msg)
		require.NoError(t, err)
		require.False(t, ok, "the thread is known when the message is stored")

		known.Past.WrittenTo = true
		require.Equal(t, postroom.Star, decide(t, e, msg).Action)
		known.err = errors.New("database is away")
		_, err = e.Decide(t.Context(), msg)
		require.ErrorIs(t, err, known.err)
		require.ErrorIs(t, err, rules.ErrHistory)
	})
}

func TestARuleThatAsksForAHistoryNobodyKnowsIsBroken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := storetest.Create(t, db, s, rules.NewRule("they", rulestest.Predicate(rules.TheyAnswered, ""), postroom.Star,
			nil))
		e, err := rules.NewEngine(rules.EngineConfig{Store: s, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.Equal(t, postroom.SourceNone, decide(t, e, mailFrom("amy@example.com")).Source)
		stored, err := s.Get(t.Context(), r.ID)
		require.NoError(t, err)
		require.False(t, stored.Enabled)
		require.Contains(t, stored.DisabledReason, "need a record of other mail")
	})
}
