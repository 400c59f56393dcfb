package guidance_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// A desk is a store of guidance under test.
type desk struct {
	*guidance.Store
	t  *testing.T
	db queue.DB
}

func newDesk(t *testing.T, db queue.DB) *desk {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	s, err := guidance.New(guidance.Config{DB: db})
	require.NoError(t, err)
	return &desk{s, t, db}
}

func (d *desk) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return d.db.Write(d.t.Context(), fn)
}

func (d *desk) direction(account, text string) (saved guidance.Direction) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		saved, err = d.CreateDirection(ctx, tx, guidance.Direction{AccountID: account, Text: text, Enabled: true})
		return err
	}))
	return saved
}

func (d *desk) rule(r guidance.ScopedRule) (saved guidance.ScopedRule, err error) {
	r.Enabled = true
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		saved, err = d.CreateRule(ctx, tx, r)
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
		for _, r := range []guidance.ScopedRule{
			{Name: "all", Text: "1"}, {Name: "mine", Scope: guidance.ScopeAccount, ScopeRef: "a", Text: "2"}, {Name: "others", Scope: guidance.ScopeAccount, ScopeRef: "b", Text: "x"},
			{Name: "shop", Scope: guidance.ScopeDomain, ScopeRef: "Shop.Example.com", Text: "3"}, {Name: "below", Scope: guidance.ScopeDomain, ScopeRef: "example.com", Text: "x"},
			{Name: "one", Scope: guidance.ScopeSender, ScopeRef: "News@shop.example.com", Text: "4"}, {Name: "other", Scope: guidance.ScopeSender, ScopeRef: "a@shop.example.com", Text: "x"},
		} {
			_, err := d.rule(r)
			require.NoError(t, err)
		}
		off, err := d.rule(guidance.ScopedRule{Name: "off", Text: "x"})
		require.NoError(t, err)
		_, err = d.patchRule(off.ID, guidance.ScopedRulePatch{Enabled: new(false)})
		require.NoError(t, err)

		g, err := d.Guidance(t.Context(), &postroom.Message{AccountID: "a", From: postroom.Address{Email: "News@shop.example.com"}})
		require.NoError(t, err)
		require.Equal(t, decide.Guidance{
			Directions: []string{"Be careful.", "Keep receipts."},
			Rules:      []decide.Rule{{Name: "all", Text: "1"}, {Name: "mine", Text: "2"}, {Name: "shop", Text: "3"}, {Name: "one", Text: "4"}},
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
		changed, err := d.patchDirection(first.ID, guidance.DirectionPatch{Text: new("Be bold."), Enabled: new(false), Revision: first.Revision})
		require.NoError(t, err)
		require.EqualValues(t, 2, changed.Revision)
		_, err = d.patchDirection(first.ID, guidance.DirectionPatch{Text: new("Be late."), Revision: first.Revision})
		require.ErrorIs(t, err, guidance.ErrChanged)
		require.ErrorContains(t, err, "read it again")
		_, err = d.patchDirection(first.ID, guidance.DirectionPatch{Text: new(" ")})
		require.ErrorIs(t, err, guidance.ErrInvalid)
		all, err := d.Directions(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "Be bold.", all[0].Text)
		require.False(t, all[0].Enabled)
		require.True(t, first.CreatedAt.Equal(all[0].CreatedAt))
		one, err := d.Direction(t.Context(), first.ID)
		require.NoError(t, err)
		require.Equal(t, all[0], one)

		rule, err := d.rule(guidance.ScopedRule{Name: "shops", Description: "why", Text: "x"})
		require.NoError(t, err)
		require.Equal(t, guidance.ScopeGlobal, rule.Scope)
		_, err = d.rule(guidance.ScopedRule{Name: " shops ", Text: "y"})
		require.ErrorIs(t, err, guidance.ErrNameTaken)
		require.ErrorContains(t, err, `rule "shops": another rule has this name`)
		_, err = d.patchRule(rule.ID, guidance.ScopedRulePatch{Name: new("shops"), Text: new("z"), Revision: 1})
		require.NoError(t, err, "its own name is no other's")
		_, err = d.patchRule(rule.ID, guidance.ScopedRulePatch{Text: new("late"), Revision: 1})
		require.ErrorIs(t, err, guidance.ErrChanged)
		scoped, err := d.patchRule(rule.ID, guidance.ScopedRulePatch{Scope: new(guidance.ScopeDomain), ScopeRef: new("Shop.example")})
		require.NoError(t, err)
		require.Equal(t, "shop.example", scoped.ScopeRef)
		scoped, err = d.patchRule(rule.ID, guidance.ScopedRulePatch{Scope: new(guidance.ScopeGlobal)})
		require.NoError(t, err)
		require.Empty(t, scoped.ScopeRef)
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
		_, err = d.patchRule(rule.ID, guidance.ScopedRulePatch{})
		require.ErrorIs(t, err, postroom.ErrNotFound, "what is deleted is not changed")
		_, err = d.patchDirection(first.ID, guidance.DirectionPatch{})
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.Rule(t.Context(), rule.ID)
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.Direction(t.Context(), first.ID)
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func (d *desk) patchDirection(id string, p guidance.DirectionPatch) (changed guidance.Direction, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = d.PatchDirection(ctx, tx, id, p)
		return err
	})
	return changed, err
}

func (d *desk) patchRule(id string, p guidance.ScopedRulePatch) (changed guidance.ScopedRule, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = d.PatchRule(ctx, tx, id, p)
		return err
	})
	return changed, err
}

func TestTheOrderOfGuidance(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		a, b := d.direction("", "a"), d.direction("", "b")
		_, err := d.patchDirection(b.ID, guidance.DirectionPatch{Priority: new(-5)})
		require.NoError(t, err)
		order := func() (texts []string) {
			g, err := d.Guidance(t.Context(), &postroom.Message{AccountID: "x"})
			require.NoError(t, err)
			return g.Directions
		}
		require.Equal(t, []string{"b", "a"}, order())
		one, err := d.rule(guidance.ScopedRule{Name: "one", Text: "1", Priority: 1})
		require.NoError(t, err)
		two, err := d.rule(guidance.ScopedRule{Name: "two", Text: "2", Priority: 2})
		require.NoError(t, err)

		// Each swap is whole, also of those that come at once from both sides.
		var wg sync.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			wg.Go(func() {
				errs[i] = d.write(func(ctx context.Context, tx queue.Tx) error {
					if i%2 == 0 {
						return errors.Join(d.SwapDirections(ctx, tx, a.ID, b.ID), d.SwapRules(ctx, tx, one.ID, two.ID))
					}
					return errors.Join(d.SwapDirections(ctx, tx, b.ID, a.ID), d.SwapRules(ctx, tx, two.ID, one.ID))
				})
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, []string{"b", "a"}, order(), "ten swaps are none")
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { return d.SwapDirections(ctx, tx, a.ID, b.ID) }))
		require.Equal(t, []string{"a", "b"}, order())
		now, err := d.Direction(t.Context(), a.ID)
		require.NoError(t, err)
		require.EqualValues(t, 12, now.Revision)

		for id, want := range map[string]error{a.ID: guidance.ErrSame, "none": postroom.ErrNotFound} {
			err := d.write(func(ctx context.Context, tx queue.Tx) error { return d.SwapDirections(ctx, tx, a.ID, id) })
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, []string{"a", "b"}, order(), "a swap with nothing changes nothing")
		_, err = d.rule(guidance.ScopedRule{Name: "far", Text: "x", Priority: 1_000_001})
		require.ErrorIs(t, err, guidance.ErrInvalid)
	})
}

func TestBadGuidanceIsNotStored(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	for words, r := range map[string]guidance.ScopedRule{
		"Name is blank":                       {Name: " ", Text: "x"},
		"Text is blank":                       {Name: "a", Text: "\u200b\n"},
		"Text has 2001 characters":            {Name: "a", Text: strings.Repeat("ä", 2001)},
		"Name has 101 characters":             {Name: strings.Repeat("ä", 101), Text: "x"},
		`Scope is "thread"`:                   {Name: "a", Text: "x", Scope: "thread"},
		"a global rule refers to nothing":     {Name: "a", Text: "x", ScopeRef: "example.com"},
		"give the id of the account":          {Name: "a", Text: "x", Scope: guidance.ScopeAccount},
		`ScopeRef is "ada@example.com"; give`: {Name: "a", Text: "x", Scope: guidance.ScopeDomain, ScopeRef: "Ada@example.com"},
		`ScopeRef is "example.com"; give`:     {Name: "a", Text: "x", Scope: guidance.ScopeSender, ScopeRef: "example.com"},
	} {
		_, err := d.rule(r)
		require.ErrorIs(t, err, guidance.ErrInvalid, words)
		require.ErrorContains(t, err, words)
	}
	err := d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := d.CreateDirection(ctx, tx, guidance.Direction{Text: " "})
		return err
	})
	require.ErrorIs(t, err, guidance.ErrInvalid)
	_, err = guidance.New(guidance.Config{})
	require.ErrorContains(t, err, "Config.DB")
}
