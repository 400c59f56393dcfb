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
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// A desk is a store of instructions under test.
type desk struct {
	*guidance.Store
	t  *testing.T
	db queue.DB
}

func newDesk(t *testing.T, db queue.DB) *desk {
	t.Helper()
	require.NoError(t, guidance.Migrate(t.Context(), db))
	s, err := guidance.New(guidance.Config{DB: db})
	require.NoError(t, err)
	return &desk{s, t, db}
}

func (d *desk) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return d.db.Write(d.t.Context(), fn)
}

func (d *desk) create(i guidance.Instruction) (saved guidance.Instruction, err error) {
	i.Enabled = true
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		saved, err = d.Create(ctx, tx, i)
		return err
	})
	return saved, err
}

func (d *desk) add(i guidance.Instruction) guidance.Instruction {
	saved, err := d.create(i)
	require.NoError(d.t, err)
	return saved
}

func (d *desk) patch(id string, p guidance.Patch) (changed guidance.Instruction, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = d.Patch(ctx, tx, id, p)
		return err
	})
	return changed, err
}

func (d *desk) texts(msg *postroom.Message) (texts []string) {
	list, err := d.For(d.t.Context(), msg)
	require.NoError(d.t, err)
	for _, i := range list {
		texts = append(texts, i.Text)
	}
	return texts
}

var news = &postroom.Message{AccountID: "a", From: postroom.Address{Email: "News@shop.example.com"}}

func TestInstructionsAreThoseOfTheMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		for _, i := range []guidance.Instruction{
			{Text: "all"}, {Scope: guidance.ScopeMailbox, ScopeRef: "a", Text: "mine"}, {Scope: guidance.ScopeMailbox, ScopeRef: "b", Text: "x"},
			{Scope: guidance.ScopeDomain, ScopeRef: "Shop.Example.com", Text: "shop"}, {Scope: guidance.ScopeDomain, ScopeRef: "example.com", Text: "x"},
			{Scope: guidance.ScopeSender, ScopeRef: "News@shop.example.com", Text: "one"}, {Scope: guidance.ScopeSender, ScopeRef: "a@shop.example.com", Text: "x"},
		} {
			d.add(i)
		}
		off := d.add(guidance.Instruction{Text: "off"})
		_, err := d.patch(off.ID, guidance.Patch{Enabled: new(false)})
		require.NoError(t, err)
		require.Equal(t, []string{"all", "mine", "shop", "one"}, d.texts(news))
		require.Equal(t, []string{"all", "mine"}, d.texts(&postroom.Message{AccountID: "a"}))
	})
}

func TestForbiddenIsWhatAnInstructionAboutTheMessageForbids(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		forbidden := func(msg *postroom.Message, action postroom.ActionType) (why string) {
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
				why, err = d.Forbidden(ctx, tx, msg, action)
				return err
			}))
			return why
		}
		d.add(guidance.Instruction{Text: "Never archive anything."})
		require.Empty(t, forbidden(news, postroom.Archive), "a text is advice")
		shop := d.add(guidance.Instruction{Scope: guidance.ScopeDomain, ScopeRef: "shop.example.com",
			Forbids: []postroom.ActionType{postroom.Trash, postroom.Archive, postroom.Trash}})
		require.Equal(t, []postroom.ActionType{postroom.Archive, postroom.Trash}, shop.Forbids)
		mine := d.add(guidance.Instruction{Scope: guidance.ScopeMailbox, ScopeRef: "a",
			Forbids: []postroom.ActionType{postroom.ApplyLabel}})
		require.Equal(t, "no archive for mail of shop.example.com, by instruction "+shop.ID,
			forbidden(news, postroom.Archive))
		require.Equal(t, "no apply_label for mail to this mailbox, by instruction "+mine.ID,
			forbidden(news, postroom.ApplyLabel))
		require.Empty(t, forbidden(news, postroom.Star))
		require.Empty(t, forbidden(&postroom.Message{AccountID: "a", From: postroom.Address{Email: "a@example.com"}},
			postroom.Archive))
		_, err := d.patch(shop.ID, guidance.Patch{Forbids: &[]postroom.ActionType{postroom.Star}})
		require.NoError(t, err)
		require.Empty(t, forbidden(news, postroom.Archive))
		require.NotEmpty(t, forbidden(news, postroom.Star))
		_, err = d.patch(shop.ID, guidance.Patch{Enabled: new(false)})
		require.NoError(t, err)
		require.Empty(t, forbidden(news, postroom.Star), "it is disabled")
	})
}

func TestInstructionsAreChangedAndDeleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		first := d.add(guidance.Instruction{Name: " shops ", Text: "Be careful."})
		require.Equal(t, "shops", first.Name)
		require.Equal(t, guidance.ScopeAll, first.Scope)
		changed, err := d.patch(first.ID, guidance.Patch{Text: new("Be bold."), Enabled: new(false),
			Revision: first.Revision})
		require.NoError(t, err)
		require.EqualValues(t, 2, changed.Revision)
		_, err = d.patch(first.ID, guidance.Patch{Text: new("Be late."), Revision: first.Revision})
		require.ErrorIs(t, err, guidance.ErrChanged)
		require.ErrorContains(t, err, "read it again")
		_, err = d.patch(first.ID, guidance.Patch{Text: new(" ")})
		require.ErrorIs(t, err, guidance.ErrInvalid)
		all, err := d.Instructions(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "Be bold.", all[0].Text)
		require.False(t, all[0].Enabled)
		require.True(t, first.CreatedAt.Equal(all[0].CreatedAt))
		one, err := d.Instruction(t.Context(), first.ID)
		require.NoError(t, err)
		require.Equal(t, all[0], one)

		scoped, err := d.patch(first.ID, guidance.Patch{Scope: new(guidance.ScopeDomain), ScopeRef: new("Shop.example")})
		require.NoError(t, err)
		require.Equal(t, "shop.example", scoped.ScopeRef)
		scoped, err = d.patch(first.ID, guidance.Patch{Scope: new(guidance.ScopeAll)})
		require.NoError(t, err)
		require.Empty(t, scoped.ScopeRef)

		for range 2 {
			err = d.write(func(ctx context.Context, tx queue.Tx) error { return d.Delete(ctx, tx, first.ID) })
		}
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.patch(first.ID, guidance.Patch{})
		require.ErrorIs(t, err, postroom.ErrNotFound, "what is deleted is not changed")
		_, err = d.Instruction(t.Context(), first.ID)
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestTheOrderOfInstructions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db)
		a, b := d.add(guidance.Instruction{Text: "a"}), d.add(guidance.Instruction{Text: "b"})
		_, err := d.patch(b.ID, guidance.Patch{Priority: new(-5)})
		require.NoError(t, err)
		order := func() []string { return d.texts(&postroom.Message{AccountID: "x"}) }
		require.Equal(t, []string{"b", "a"}, order())

		// Each swap is whole, also of those that come at once from both sides.
		var wg sync.WaitGroup
		errs := make([]error, 10)
		for n := range errs {
			wg.Go(func() {
				errs[n] = d.write(func(ctx context.Context, tx queue.Tx) error {
					if n%2 == 0 {
						return d.Swap(ctx, tx, a.ID, b.ID)
					}
					return d.Swap(ctx, tx, b.ID, a.ID)
				})
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, []string{"b", "a"}, order(), "ten swaps are none")
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { return d.Swap(ctx, tx, a.ID, b.ID) }))
		require.Equal(t, []string{"a", "b"}, order())
		now, err := d.Instruction(t.Context(), a.ID)
		require.NoError(t, err)
		require.EqualValues(t, 12, now.Revision)

		for id, want := range map[string]error{a.ID: guidance.ErrSame, "none": postroom.ErrNotFound} {
			err := d.write(func(ctx context.Context, tx queue.Tx) error { return d.Swap(ctx, tx, a.ID, id) })
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, []string{"a", "b"}, order(), "a swap with nothing changes nothing")
	})
}

func TestBadInstructionsAreNotStored(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t))
	for words, i := range map[string]guidance.Instruction{
		"Text is blank, and nothing is forbidden":         {Text: "\u200b\n"},
		"Text has 2001 characters":                        {Text: strings.Repeat("ä", 2001)},
		"Name has 101 characters":                         {Name: strings.Repeat("ä", 101), Text: "x"},
		`Scope is "thread"`:                               {Text: "x", Scope: "thread"},
		"an instruction about all mail refers to nothing": {Text: "x", ScopeRef: "example.com"},
		"give the id of the account":                      {Text: "x", Scope: guidance.ScopeMailbox},
		`ScopeRef is "ada@example.com"; give`:             {Text: "x", Scope: guidance.ScopeDomain, ScopeRef: "Ada@example.com"},
		`ScopeRef is "example.com"; give`:                 {Text: "x", Scope: guidance.ScopeSender, ScopeRef: "example.com"},
		"none does nothing":                               {Forbids: []postroom.ActionType{postroom.None}},
		"burn":                                            {Forbids: []postroom.ActionType{"burn"}},
		"Priority is 1000001":                             {Text: "x", Priority: 1_000_001},
	} {
		_, err := d.create(i)
		require.ErrorIs(t, err, guidance.ErrInvalid, words)
		require.ErrorContains(t, err, words)
	}
	_, err := guidance.New(guidance.Config{})
	require.ErrorContains(t, err, "Config.DB")
}
