package rules

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// listed is a store of rules in memory.
type listed struct {
	rules    []Rule
	revision int64
}

func (l *listed) Kinds() *postroom.Kinds                       { return nil }
func (l *listed) Revision(context.Context) (int64, error)      { return l.revision, nil }
func (l *listed) Stored(context.Context, string) (bool, error) { return true, nil }
func (l *listed) List(context.Context) ([]Rule, error)         { return slices.Clone(l.rules), nil }

func (l *listed) ListOf(_ context.Context, accountID string) ([]Rule, error) {
	return slices.DeleteFunc(slices.Clone(l.rules), func(r Rule) bool {
		return r.AccountID != "" && r.AccountID != accountID
	}), nil
}

func (l *listed) RuleAt(context.Context, string, string) (*Rule, error) {
	return nil, postroom.ErrNotFound
}

func (l *listed) DisableBroken(context.Context, string, func(*Rule) error) error { return nil }

func (l *listed) Write(context.Context, func(context.Context, queue.Tx) error) error { return nil }

// likeThose are n rules, as each account has them: with ids and labels of their own.
func likeThose(n int, accountID string) []Rule {
	list := make([]Rule, n)
	for i := range list {
		condition := Condition{Type: SubjectRegex, Value: fmt.Sprintf(`(?i)\border #?%d\b`, i)}
		if i%2 == 0 {
			condition = AllOf(Condition{Type: SubjectContains, Value: fmt.Sprintf("offer %d for", i)},
				Condition{Type: SenderDomain, Value: fmt.Sprintf("shop%d.example", i)})
		}
		list[i] = NewRule(fmt.Sprintf("rule %d", i), condition, postroom.ApplyLabel,
			postroom.Parameters{postroom.ParamLabel: "Label_" + accountID})
		list[i].ID, list[i].AccountID = fmt.Sprintf("%s-%06d", accountID, i), accountID
		list[i].Position = i + 1
	}
	list[0].Scope, list[0].ScopeRef = ScopeAccount, accountID
	return list
}

func engineOn(t *testing.T, l *listed) *Engine {
	t.Helper()
	e, err := NewEngine(EngineConfig{Store: l})
	require.NoError(t, err)
	return e
}

// Accounts with the same rules are matched by the same: what differs is what is decided.
func TestAccountsShareWhatTheyAreMatchedBy(t *testing.T) {
	l := &listed{rules: slices.Concat(likeThose(20, "ada"), likeThose(20, "bob"), likeThose(21, "eve"))}
	e := engineOn(t, l)
	sets := map[string]*Set{}
	for _, account := range []string{"ada", "bob", "eve"} {
		set, err := e.current(t.Context(), account)
		require.NoError(t, err)
		sets[account] = set
	}
	require.True(t, sets["ada"].shape == sets["bob"].shape)
	require.False(t, sets["ada"].shape == sets["eve"].shape)
	for account := range sets {
		for subject, rule := range map[string]string{"Order 3": "000003", "offer 0 for you": "000000"} {
			d, err := e.Decide(t.Context(), &postroom.Message{AccountID: account, Subject: subject,
				From: postroom.Address{Email: "a@shop0.example"}})
			require.NoError(t, err)
			require.Equal(t, account+"-"+rule, d.RuleID)
			require.Equal(t, postroom.Parameters{postroom.ParamLabel: "Label_" + account}, d.Parameters)
		}
	}

	l.rules, l.revision = slices.Concat(likeThose(20, "ada"), likeThose(22, "bob")), 1
	for _, account := range []string{"ada", "bob", "eve"} {
		set, err := e.current(t.Context(), account)
		require.NoError(t, err)
		require.Equal(t, account == "ada", set.shape == sets["ada"].shape)
	}
	require.Len(t, e.shapes, 3, "what nobody has any more is forgotten")
}

// Whatever rules there are, one account's are decided as those of all accounts together would decide.
func TestTheRulesOfAnAccountDecideAsAllOfThem(t *testing.T) {
	l := &listed{rules: slices.Concat(likeThose(4, "ada"), likeThose(3, "bob"))}
	for i, r := range []Rule{
		{Scope: ScopeAccount, ScopeRef: "bob", Condition: NoneOf(Condition{Type: Subject, Value: "zzz"})},
		{Scope: ScopeGlobal}, {Scope: ScopeDomain, ScopeRef: "shop1.example"},
		{Scope: ScopeSender, ScopeRef: "a@shop2.example", AccountID: "ada"},
		{Condition: Condition{Type: SubjectRegex, Value: "("}}, {Condition: Condition{Type: SenderSeen}, AccountID: "ada"},
		{AccountID: "bob", Action: "juggle"},
	} {
		rule := NewRule(fmt.Sprintf("more %d", i), Condition{Type: SubjectContains, Value: "x"}, postroom.Archive, nil)
		rule.ID, rule.AccountID, rule.Priority = rule.Name, r.AccountID, 90+i%3*10
		if r.Condition.Type != "" || r.Condition.Op != "" {
			rule.Condition = r.Condition
		}
		if r.Scope != "" {
			rule.Scope, rule.ScopeRef = r.Scope, r.ScopeRef
		}
		if r.Action != "" {
			rule.Action = r.Action
		}
		rule.Continue = i%2 == 0
		l.rules = append(l.rules, rule)
	}
	e, all, now := engineOn(t, l), NewSet(l.rules, nil), time.Now()
	broken := 0
	for _, account := range []string{"ada", "bob", "eve", ""} {
		set, err := e.current(t.Context(), account)
		require.NoError(t, err)
		broken += len(set.Broken())
		for _, subject := range []string{"x", "order 1", "order 3 x", "offer 2 for x", "offer 0 for"} {
			for _, domain := range []string{"shop0.example", "shop1.example", "shop2.example"} {
				msg := &postroom.Message{AccountID: account, Subject: subject, From: postroom.Address{Email: "a@" + domain}}
				require.Equal(t, all.DecideAll(msg, now), set.DecideAll(msg, now), "%s: %s of %s", account, subject, domain)
			}
		}
	}
	require.Equal(t, 4+1+1, broken, "one is of all accounts, one of ada, and one of bob")
	require.Len(t, all.Broken(), 3)
}

// One more mailbox with the same rules takes hardly more than the rules themselves.
func TestAnotherMailboxWithTheSameRulesIsSmall(t *testing.T) {
	const rules = 2000
	l := &listed{}
	for i := range 11 {
		l.rules = append(l.rules, likeThose(rules, fmt.Sprint("box", i))...)
	}
	e := engineOn(t, l)
	heap := func(accounts ...int) uint64 {
		for _, i := range accounts {
			_, err := e.current(t.Context(), fmt.Sprint("box", i))
			require.NoError(t, err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	none := heap()
	one := heap(0)
	eleven := heap(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	t.Logf("one: %d bytes a rule; another: %d", (one-none)/rules, (eleven-one)/rules/10)
	require.Less(t, (eleven-one)/10/rules, uint64(1200), "bytes of a rule")
	runtime.KeepAlive(e)
}
