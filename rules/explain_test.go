package rules_test

import (
	"context"
	"strings"
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

const explained = `
labels: [A]
rules:
  - {name: of another account, scope: account, scope_ref: other, condition: {type: has_attachment}, action: star}
  - {name: of another domain, scope: domain, scope_ref: b.example, condition: {type: has_attachment}, action: star}
  - {name: later, schedule: {from: 2026-04-01, zone: Europe/Berlin}, condition: {type: is_reply}, action: star}
  - {name: another domain, condition: {type: sender_domain, value: b.example}, action: star}
  - name: the second part fails
    condition: {op: and, children: [{type: is_reply}, {type: header, header: X-Mark, value: fourth}, {type: larger_than, value: 1MB}]}
    action: star
  - name: both parts fail
    condition: {op: or, children: [{type: recipient_count, compare: gt, value: '9'}, {type: date, part: year, value: '1999'}, {type: starred}]}
    action: star
  - name: it matches what it must not
    condition: {op: not, children: [{op: or, children: [{type: starred}, {type: list_id, value: dev.lists.example}]}]}
    action: star
  - name: nobody vouches
    safe_mode: dangerous_override
    condition: {type: address, fields: [reply_to], part: domain, value: shop.co.uk}
    action: delete
  - name: matches and goes on
    condition: {type: attachment_name, value: '*.pdf'}
    action: apply_label
    parameters: {label: A}
    stop: false
  - {name: matches, condition: {type: subject, match: contains, value: räumung}, action: mark_read}
  - {name: too late, condition: {type: is_reply}, action: star}
`

func TestExplainSaysWhatBecameOfEachRule(t *testing.T) {
	list := fileRules(t, explained)
	broken := rules.NewRule("broken", rulestest.Predicate(rules.SubjectRegex, "("), postroom.Star, nil)
	msg := parcel()
	msg.Headers = msg.Headers[:2] // nobody authenticates it
	msg.Headers = append(msg.Headers, parcel().Headers[4:]...)
	x := rules.NewSet(append(list, broken), nil).Explain(msg, now)
	rulestest.Golden(t, "testdata/explain.golden", x.String())

	outcomes := map[string]rules.Outcome{}
	for _, r := range x.Rules {
		outcomes[r.Rule.Name] = r.Outcome
	}
	require.Equal(t, map[string]rules.Outcome{
		"of another account": rules.OutOfScope, "of another domain": rules.OutOfScope, "later": rules.OutOfTime,
		"another domain": rules.NoMatch, "the second part fails": rules.NoMatch, "both parts fail": rules.NoMatch,
		"it matches what it must not": rules.NoMatch, "nobody vouches": rules.Unverified, "matches and goes on": rules.Matched,
		"matches": rules.Matched, "too late": rules.NotTried, "broken": rules.RuleBroken,
	}, outcomes)
	require.Equal(t, "children[0].children[1]", x.Rules[6].Failed[0].Path)
}

// What Explain says is what happens, and a condition that does not match has a predicate that says why.
func TestExplainAgreesWithTheSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyRule(), 1, 8).Draw(t, "rules")
		msg := rulestest.AnyMessage().Draw(t, "message")
		for i := range list {
			list[i].ID = string(rune('a' + i))
			list[i].Continue = true
		}
		set := rules.NewSet(list, nil)
		matched := map[string]bool{}
		for r := range set.All(msg, now) {
			matched[r.ID] = true
		}
		x := set.Explain(msg, now)
		require.Len(t, x.Rules, set.Len())
		require.Equal(t, set.DecideAll(msg, now), x.Decisions)
		for _, r := range x.Rules {
			require.Equal(t, matched[r.Rule.ID], r.Outcome == rules.Matched)
			require.Equal(t, r.Outcome == rules.NoMatch, len(r.Failed) > 0)
			for _, f := range r.Failed {
				predicate := strings.TrimPrefix(f.Predicate, "not ")
				require.Contains(t, r.Rule.Condition.String(), predicate)
			}
		}
	})
}

func TestEngineExplainsTheStoredRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		star := storetest.Create(t, db, s, rules.NewRule("star", rulestest.FromDomain("example.com"), postroom.Star, nil))
		off := storetest.Create(t, db, s, rules.NewRule("off", rulestest.FromDomain("example.com"), postroom.Star, nil))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Disable(ctx, tx, off.ID, "Label 'A' was deleted from Gmail")
		}))
		e := newEngine(t, s)
		x, err := e.Explain(t.Context(), mailFrom("amy@example.com"))
		require.NoError(t, err)
		require.Equal(t, postroom.Star, x.Decisions[0].Action)
		found, ok := x.Of(star.ID)
		require.True(t, ok)
		require.Equal(t, rules.Matched, found.Outcome)
		found, ok = x.Of(off.ID)
		require.True(t, ok)
		require.Equal(t, rules.RuleDisabled, found.Outcome)
		require.Equal(t, "Label 'A' was deleted from Gmail", found.Reason)
		foreign := rules.NewRule("foreign", rulestest.FromDomain("example.com"), postroom.Star, nil)
		foreign.AccountID = "another account"
		other := storetest.Create(t, db, s, foreign)
		x, err = e.Explain(t.Context(), mailFrom("amy@example.com"))
		require.NoError(t, err)
		_, ok = x.Of(other.ID)
		require.False(t, ok, "it is another account's")
		_, ok = x.Of("none")
		require.False(t, ok)

		known := &senders{seen: true}
		e, err = rules.NewEngine(rules.EngineConfig{Store: s, Senders: known})
		require.NoError(t, err)
		seen := storetest.Create(t, db, s, rules.NewRule("seen", rulestest.Predicate(rules.SenderSeen, ""),
			postroom.Archive, nil))
		x, err = e.Explain(t.Context(), mailFrom("amy@example.org"))
		require.NoError(t, err)
		found, _ = x.Of(seen.ID)
		require.Equal(t, rules.Matched, found.Outcome)
	})
}

// The text of an explanation is bounded, however much a rule and a message hold.
func TestExplainIsShort(t *testing.T) {
	values := make([]string, 1000)
	for i := range values {
		values[i] = strings.Repeat("x", 20) + time.Duration(i).String()
	}
	msg := mailFrom("amy@example.com")
	msg.BodyPlain = strings.Repeat("long text ", 10_000)
	set := rules.NewSet([]rules.Rule{rules.NewRule("r", rules.Condition{Type: rules.Body, Values: values},
		postroom.Star, nil)}, nil)
	require.Less(t, len(set.Explain(msg, now).String()), 1000)
}
