package backtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

// oldMail is mail of two weeks, some of it hostile.
func oldMail() []*postroom.Message {
	var list []*postroom.Message
	for i := range 14 {
		msg := &postroom.Message{
			ID: fmt.Sprintf("m%02d", i), From: postroom.Address{Name: "Ann", Email: "ann@a.example"},
			Subject:    fmt.Sprintf("Letter %d", i),
			ReceivedAt: time.Date(2026, time.March, 1+i, 12, 0, 0, 0, time.UTC),
		}
		switch {
		case i%3 == 0:
			msg.From.Email, msg.Subject = "news@shop.example", "<script>alert(1)</script>\u202esale\n"+strings.Repeat("x", 300)
		case i == 13:
			msg.ReceivedAt = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
		case i == 7:
			msg.ReceivedAt = time.Time{}
		}
		list = append(list, msg)
	}
	return append(list, nil)
}

func newSets() (tried, inUse []rules.Rule) {
	archive := rules.NewRule("Shop <b>", rulestest.FromDomain("shop.example"), postroom.Archive, nil)
	archive.Continue = true
	label := rules.NewRule("Early", rulestest.Predicate(rules.SubjectRegex, "^<|1"), postroom.ApplyLabel,
		postroom.Parameters{"label": "Early"})
	gone := rules.NewRule("Gone", rulestest.Predicate(rules.OlderThan, "1d"), postroom.Delete, nil)
	broken := rules.NewRule("Broken", rulestest.Predicate(rules.SubjectRegex, "("), postroom.Archive, nil)
	old := rules.NewRule("Old", rulestest.FromDomain("shop.example"), postroom.Trash, nil)
	return []rules.Rule{archive, label, gone, broken}, []rules.Rule{old, label}
}

func TestBacktest(t *testing.T) {
	tried, inUse := newSets()
	progress := 0
	b, err := backtest.Run(t.Context(), backtest.Config{
		Rules: tried, Against: inUse, Samples: 2, Progress: func(n int) { progress = n },
	}, rulestest.Sequence(oldMail()...))
	require.NoError(t, err)
	require.Equal(t, 15, progress)
	require.Positive(t, b.Took)
	rulestest.Golden(t, "testdata/report.golden", b.String())

	b.Took = 0
	asJSON, err := json.MarshalIndent(b, "", "  ")
	require.NoError(t, err)
	rulestest.Golden(t, "testdata/report.json", string(asJSON)+"\n")

	var page strings.Builder
	require.NoError(t, b.WriteHTML(&page))
	rulestest.Golden(t, "testdata/report.html", page.String())
	require.NotContains(t, page.String(), "<script")
	require.NotContains(t, page.String(), "Shop <b>")
	require.NotContains(t, page.String(), "\u202e")
	require.NotRegexp(t, regexp.MustCompile(`(?i)(src|href|url|@import)\s*[=(]`), page.String(), "the page loads nothing")

	now, err := backtest.Run(t.Context(), backtest.Config{Rules: tried, Now: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
		Samples: -1}, rulestest.Sequence(oldMail()...))
	require.NoError(t, err)
	require.False(t, now.Compared)
	require.Greater(t, now.Dangerous, 3, "as of now the mail is old")
	require.Empty(t, now.Rules[0].Samples)

	none, err := backtest.Run(t.Context(), backtest.Config{Rules: tried, Against: inUse}, rulestest.Sequence())
	require.NoError(t, err)
	require.Zero(t, none.Messages)
	page.Reset()
	require.NoError(t, none.WriteHTML(&page))
	require.Contains(t, page.String(), "both sets decide alike")
	require.Contains(t, none.String(), "0 messages")
}

// A backtest counts what the set decides, however many messages there are and whoever evaluates them.
func TestBacktestCountsWhatTheSetDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := make([]rules.Rule, rapid.IntRange(1, 4).Draw(t, "rules"))
		for i := range list {
			list[i] = rules.NewRule(fmt.Sprintf("r%d", i), rulestest.AnyCondition(2).Draw(t, "condition"),
				rapid.SampledFrom([]postroom.ActionType{postroom.Archive, postroom.Star, postroom.Trash}).Draw(t, "action"), nil)
			list[i].ID, list[i].Continue = list[i].Name, rapid.Bool().Draw(t, "continue")
		}
		set := rules.NewSet(list, nil)
		few := rapid.SliceOfN(rulestest.AnyMessage(), 1, 5).Draw(t, "messages")
		var messages []*postroom.Message
		actions, matched := map[string]int{}, 0
		for i := range rapid.SampledFrom([]int{1, 7, 600}).Draw(t, "count") {
			msg := few[i%len(few)]
			messages = append(messages, msg)
			decisions := set.DecideAll(msg, rulestest.Now)
			if decisions[0].Source == postroom.SourceNone {
				continue
			}
			matched++
			for _, d := range decisions {
				actions[string(d.Action)]++
			}
		}
		b, err := backtest.Run(context.Background(), backtest.Config{Rules: list, Against: list, Now: rulestest.Now},
			rulestest.Sequence(messages...))
		require.NoError(t, err)
		require.Equal(t, len(messages), b.Messages)
		require.Equal(t, matched, b.Matched)
		require.Equal(t, matched, b.MatchedBefore)
		require.Zero(t, b.Changed)
		got := map[string]int{}
		for _, a := range b.Actions {
			got[a.Action] = a.Count
			require.Equal(t, a.Count, a.Before)
		}
		require.Equal(t, actions, got)
	})
}

func TestBacktestEndsWithItsMail(t *testing.T) {
	tried, _ := newSets()
	away := errors.New("the disk is away")
	_, err := backtest.Run(t.Context(), backtest.Config{Rules: tried}, func(yield func(*postroom.Message, error) bool) {
		_ = yield(oldMail()[0], nil) && yield(nil, away)
	})
	require.ErrorIs(t, err, away)
	require.ErrorContains(t, err, "message 2")

	ctx, cancel := context.WithCancel(t.Context())
	_, err = backtest.Run(ctx, backtest.Config{Rules: tried, Progress: func(int) {
		cancel()
	}}, func(yield func(*postroom.Message, error) bool) {
		for yield(oldMail()[0], nil) {
		}
	})
	require.ErrorIs(t, err, context.Canceled)

	for want, cfg := range map[string]backtest.Config{"Config.Rules": {}, "Config.Samples": {Rules: tried, Samples: 101}} {
		_, err = backtest.Run(t.Context(), cfg, rulestest.Sequence())
		require.ErrorContains(t, err, want)
	}
	_, err = backtest.Run(t.Context(), backtest.Config{Rules: tried}, nil)
	require.ErrorContains(t, err, "messages")
}

// A rule that asks whether the sender has written before sees the mail before each message, and not the mail after it.
func TestBacktestKnowsTheSendersOfThen(t *testing.T) {
	unknown := rules.NewRule("Unknown", rules.NoneOf(rulestest.Predicate(rules.SenderSeen, "")), postroom.Star, nil)
	mail := rulestest.Sequence(oldMail()...)
	senders, err := backtest.SendersOf(t.Context(), mail)
	require.NoError(t, err)
	b, err := backtest.Run(t.Context(), backtest.Config{Rules: []rules.Rule{unknown}, Against: []rules.Rule{},
		Senders: senders}, mail)
	require.NoError(t, err)
	require.Empty(t, b.Broken)
	require.Equal(t, 2, b.Matched, "the first letter of each of the two senders")
	require.Equal(t, []string{"m00", "m01"}, []string{b.Rules[0].Samples[0].ID, b.Rules[0].Samples[1].ID})
	require.Equal(t, 2, b.Changed)

	before, err := backtest.Run(t.Context(), backtest.Config{Rules: []rules.Rule{}, Against: []rules.Rule{unknown},
		Senders: senders}, mail)
	require.NoError(t, err)
	require.Equal(t, 2, before.MatchedBefore)

	none, err := backtest.Run(t.Context(), backtest.Config{Rules: []rules.Rule{unknown}}, mail)
	require.NoError(t, err)
	require.Len(t, none.Broken, 1)

	away := errors.New("the disk is away")
	_, err = backtest.Run(t.Context(), backtest.Config{Rules: []rules.Rule{unknown}, Senders: brokenSenders{away}}, mail)
	require.ErrorIs(t, err, away)
	_, err = backtest.SendersOf(t.Context(), func(yield func(*postroom.Message, error) bool) { yield(nil, away) })
	require.ErrorIs(t, err, away)
}

type brokenSenders struct{ err error }

func (s brokenSenders) SenderSeen(context.Context, *postroom.Message) (bool, error) {
	return false, s.err
}
