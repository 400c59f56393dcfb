package llm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// A desk is a store of guidance under test.
type desk struct {
	*llm.GuidanceStore
	t  *testing.T
	db queue.DB
}

func newDesk(t *testing.T, db queue.DB) *desk {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	s, err := llm.NewGuidanceStore(llm.GuidanceStoreConfig{DB: db})
	require.NoError(t, err)
	return &desk{s, t, db}
}

func (d *desk) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return d.db.Write(d.t.Context(), fn)
}

func (d *desk) direction(account, text string) (saved llm.Direction) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		saved, err = d.SaveDirection(ctx, tx, llm.Direction{AccountID: account, Text: text, Enabled: true})
		return err
	}))
	return saved
}

func (d *desk) rule(r llm.ScopedRule) (saved llm.ScopedRule, err error) {
	r.Enabled = true
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		saved, err = d.SaveRule(ctx, tx, r)
		return err
	})
	return saved, err
}

func TestGuidanceIsThatOfTheMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		d.direction("", "Be careful.")
		d.direction("a", "Keep receipts.")
		d.direction("b", "Another account's.")
		for _, r := range []llm.ScopedRule{
			{Name: "all", Text: "1"}, {Name: "mine", Scope: llm.ScopeAccount, ScopeRef: "a", Text: "2"}, {Name: "others", Scope: llm.ScopeAccount, ScopeRef: "b", Text: "x"},
			{Name: "shop", Scope: llm.ScopeDomain, ScopeRef: "Shop.Example.com", Text: "3"}, {Name: "below", Scope: llm.ScopeDomain, ScopeRef: "example.com", Text: "x"},
			{Name: "one", Scope: llm.ScopeSender, ScopeRef: "News@shop.example.com", Text: "4"}, {Name: "other", Scope: llm.ScopeSender, ScopeRef: "a@shop.example.com", Text: "x"},
		} {
			_, err := d.rule(r)
			require.NoError(t, err)
		}
		off, err := d.rule(llm.ScopedRule{Name: "off", Text: "x"})
		require.NoError(t, err)
		off.Enabled = false
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { _, err := d.SaveRule(ctx, tx, off); return err }))

		g, err := d.Guidance(t.Context(), llm.Newsletter())
		require.NoError(t, err)
		require.Equal(t, llm.Guidance{
			Directions: []string{"Be careful.", "Keep receipts."},
			Rules:      []llm.Rule{{Name: "all", Text: "1"}, {Name: "mine", Text: "2"}, {Name: "shop", Text: "3"}, {Name: "one", Text: "4"}},
		}, g)
		nobody, err := d.Guidance(t.Context(), &postroom.Message{AccountID: "a"})
		require.NoError(t, err)
		require.Len(t, nobody.Rules, 2)
	})
}

func TestGuidanceIsChangedAndDeleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		first := d.direction("", "Be careful.")
		changed := first
		changed.Text, changed.Enabled = "Be bold.", false
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { _, err := d.SaveDirection(ctx, tx, changed); return err }))
		all, err := d.Directions(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "Be bold.", all[0].Text)
		require.False(t, all[0].Enabled)
		require.True(t, first.CreatedAt.Truncate(time.Microsecond).Equal(all[0].CreatedAt))

		rule, err := d.rule(llm.ScopedRule{Name: "shops", Description: "why", Text: "x"})
		require.NoError(t, err)
		require.Equal(t, llm.ScopeGlobal, rule.Scope)
		_, err = d.rule(llm.ScopedRule{Name: " shops ", Text: "y"})
		require.ErrorContains(t, err, `another rule has the name "shops"`)
		rule.Text = "z"
		_, err = d.rule(rule)
		require.NoError(t, err, "its own name is no other's")
		rules, err := d.Rules(t.Context())
		require.NoError(t, err)
		require.Equal(t, "z", rules[0].Text)
		require.Equal(t, "why", rules[0].Description)

		for range 2 {
			err = d.write(func(ctx context.Context, tx queue.Tx) error { return d.DeleteDirection(ctx, tx, first.ID) })
		}
		require.ErrorIs(t, err, postroom.ErrNotFound)
		for range 2 {
			err = d.write(func(ctx context.Context, tx queue.Tx) error { return d.DeleteRule(ctx, tx, rule.ID) })
		}
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.rule(rule)
		require.ErrorIs(t, err, postroom.ErrNotFound, "what is deleted is not changed")
	})
}

func TestBadGuidanceIsNotStored(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	for words, r := range map[string]llm.ScopedRule{
		"Name is blank":                       {Name: " ", Text: "x"},
		"Text is blank":                       {Name: "a", Text: "\u200b\n"},
		"Text has 2001 characters":            {Name: "a", Text: strings.Repeat("ä", 2001)},
		"Name has 101 characters":             {Name: strings.Repeat("ä", 101), Text: "x"},
		`Scope is "thread"`:                   {Name: "a", Text: "x", Scope: "thread"},
		"a global rule refers to nothing":     {Name: "a", Text: "x", ScopeRef: "example.com"},
		"give the id of the account":          {Name: "a", Text: "x", Scope: llm.ScopeAccount},
		`ScopeRef is "ada@example.com"; give`: {Name: "a", Text: "x", Scope: llm.ScopeDomain, ScopeRef: "Ada@example.com"},
		`ScopeRef is "example.com"; give`:     {Name: "a", Text: "x", Scope: llm.ScopeSender, ScopeRef: "example.com"},
	} {
		_, err := d.rule(r)
		require.ErrorIs(t, err, llm.ErrInvalidGuidance, words)
		require.ErrorContains(t, err, words)
	}
	err := d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := d.SaveDirection(ctx, tx, llm.Direction{Text: " "})
		return err
	})
	require.ErrorIs(t, err, llm.ErrInvalidGuidance)
	_, err = llm.NewGuidanceStore(llm.GuidanceStoreConfig{})
	require.ErrorContains(t, err, "GuidanceStoreConfig.DB")
}

// A model that does not follow a direction is told so, and then a person looks.
func TestDirectionsAreCheckedAfterTheModel(t *testing.T) {
	never := guide(llm.Guidance{Directions: []string{"Be brief.", "Never delete anything."}})
	trash := llmtest.Decides("trash", "{}", 1)
	client := llmtest.NewScripted(t, llmtest.Decides("delete", "{}", 1), llmtest.Decides("archive", "{}", 1))
	d := decide(t, newDecider(t, llm.Config{Client: client, Guidance: never}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.Contains(t, client.Requests()[1].Messages[3].Text, `action delete is forbidden by the direction "Never delete anything."`)

	stubborn := llmtest.NewScripted(t, trash, trash, trash)
	d = decide(t, newDecider(t, llm.Config{Client: stubborn, Guidance: never}), mail("x"))
	require.Equal(t, postroom.None, d.Action)
	require.True(t, d.NeedsApproval)
	require.Contains(t, d.Rationale, "forbidden by the direction")

	maybe := guide(llm.Guidance{Directions: []string{"Never archive receipts."}})
	d = decide(t, newDecider(t, llm.Config{Client: llmtest.NewScripted(t, llmtest.Decides("archive", "{}", 1)), Guidance: maybe}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.True(t, d.NeedsApproval, "a person says whether it is a receipt")
	require.Contains(t, d.Explanations.SalientFeatures, "a direction may forbid this: Never archive receipts.")
}
