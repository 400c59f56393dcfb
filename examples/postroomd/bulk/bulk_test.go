package bulk_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

func TestMain(m *testing.M) { dbtest.Main(m, app.Migrate) }

// A world is a mailbox with postroomd, and no rules.
type world struct {
	*testing.T
	*app.App
	gmail   *gmailtest.Server
	account mailstore.Account
}

// each runs a test with so many letters in the mailbox, on both databases.
func each(t *testing.T, letters int, configure func(*config.Config), fn func(w *world)) {
	t.Run("sqlite", func(t *testing.T) { fn(newWorld(t, "", letters, configure)) })
	t.Run("postgres", func(t *testing.T) { fn(newWorld(t, dbtest.MigratedDSN(t), letters, configure)) })
}

func unchanged(*config.Config) {}

func newWorld(t *testing.T, database string, letters int, configure func(*config.Config)) *world {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true,
		OldMail: config.SortOldMail}
	cfg.Paths.Database = config.Database(database)
	configure(&cfg)
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	if !cfg.Paths.Database.Postgres() {
		dbtest.MigratedFile(t, env.Database())
	}
	a, err := app.New(t.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	require.NoError(t, server.CreateLabels(t.Context(), "Tea"))
	w := &world{T: t, App: a, gmail: server}
	for n := range letters {
		w.deliver(n)
	}
	w.work()
	accounts, err := a.Mail.Accounts(t.Context())
	require.NoError(t, err)
	w.account = accounts[0]
	return w
}

func (w *world) deliver(n int) {
	w.Helper()
	_, err := w.gmail.Deliver(w.Context(), fmt.Appendf(nil,
		"From: Ann <ann@example.com>\r\nSubject: Tea %d\r\nMessage-ID: <tea%d@example.com>\r\n\r\nAt five?\r\n", n, n))
	require.NoError(w, err)
}

// work takes in the mail, and carries out what is to be done.
func (w *world) work() {
	w.Helper()
	_, err := w.Worked(w.Context())
	require.NoError(w, err)
	faults, err := w.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

func (w *world) wants(kind postroom.ActionType) bulk.Request {
	return bulk.Request{Account: w.account, Query: "from:ann@example.com", Kind: kind, By: "ada"}
}

func (w *world) plan(r bulk.Request) *bulk.Preview {
	w.Helper()
	p, err := bulk.Plan(w.Context(), w.App, r)
	require.NoError(w, err)
	return p
}

// act does what a preview shows.
func (w *world) act(r bulk.Request) bulk.Done {
	w.Helper()
	done, err := bulk.Act(w.Context(), w.App, r, w.plan(r).Digest, func(int, int) {})
	require.NoError(w, err)
	w.work()
	return done
}

func (w *world) undo(batch string) {
	w.Helper()
	_, err := w.Undoer.As("ada").RequestAll(w.Context(), safety.Filter{KeyPrefix: rules.BatchKey(batch)}, true)
	require.NoError(w, err)
	w.work()
}

// found are the ids of the mail that a search finds, in order.
func (w *world) found(query string) []string {
	w.Helper()
	page, err := w.SearchMail(w.Context(), w.account.ID, mailindex.Search{Query: query, Limit: 500, SpamAndTrash: true})
	require.NoError(w, err)
	return printer.List(page.Messages, func(m *postroom.Message) string { return m.ProviderID })
}

// All that a search finds is archived as one person's batch, and one undo puts exactly that back.
func TestASearchIsArchivedAndTakenBack(t *testing.T) {
	each(t, 60, unchanged, func(w *world) {
		all := w.found("in:inbox")
		require.Len(w, all, 60)
		require.NoError(w, w.gmail.Person().Archive(w.Context(), all[:3]...))
		w.work()

		p := w.plan(w.wants(postroom.Archive))
		require.Equal(w, 57, p.Count)
		require.Len(w, p.Mail, 20)
		require.Equal(w, all[3], p.Mail[0].ID, "the newest come first")
		require.Equal(w, []bulk.Left{{N: 3, Why: "it is so already"}}, p.LeftAlone)
		require.False(w, p.More)
		require.Len(w, w.found("in:inbox"), 57, "a preview does nothing")

		var progress []int
		done, err := bulk.Act(w.Context(), w.App, w.wants(postroom.Archive), p.Digest, func(n, of int) {
			require.Equal(w, 57, of)
			progress = append(progress, n)
		})
		require.NoError(w, err)
		require.Equal(w, []int{50, 57}, progress)
		require.Equal(w, 57, done.Recorded)
		again := w.plan(w.wants(postroom.Archive))
		require.Zero(w, again.Count)
		require.Contains(w, again.LeftAlone, bulk.Left{N: 57, Why: "something is still to be done to it"})
		w.work()
		require.Empty(w, w.found("in:inbox"))

		entries, err := w.Ledger.Actions(w.Context(), safety.Filter{KeyPrefix: rules.BatchKey(done.Batch), Limit: 100})
		require.NoError(w, err)
		require.Len(w, entries, 57)
		decision := entries[0].Decision.Decision
		require.Equal(w, postroom.SourceHost, decision.Source)
		require.Contains(w, decision.Rationale, "ada chose it for all that the search 'from:ann@example.com' finds")

		w.undo(done.Batch)
		require.Equal(w, all[3:], w.found("in:inbox"))
		left := w.plan(w.wants(postroom.Archive))
		require.Zero(w, left.Count)
		require.Equal(w, bulk.Left{N: 57, Why: bulk.ByHand}, left.LeftAlone[0])
		request := w.wants(postroom.Archive)
		request.Again = true
		require.Equal(w, 57, w.plan(request).Count)
	})
}

// What is not as it was shown is not done: neither more mail, nor another action.
func TestOnlyWhatWasShownIsDone(t *testing.T) {
	each(t, 2, unchanged, func(w *world) {
		shown := w.plan(w.wants(postroom.Archive)).Digest
		_, err := bulk.Act(w.Context(), w.App, w.wants(postroom.Trash), shown, func(int, int) {})
		require.ErrorIs(w, err, bulk.ErrChanged)
		w.deliver(7)
		w.work()
		_, err = bulk.Act(w.Context(), w.App, w.wants(postroom.Archive), shown, func(int, int) {})
		require.ErrorIs(w, err, bulk.ErrChanged)
		require.Len(w, w.found("in:inbox"), 3)
	})
}

// What is thrown away so can be had back, and until when is said.
func TestASearchIsThrownAwayWithANote(t *testing.T) {
	each(t, 2, unchanged, func(w *world) {
		require.Contains(w, w.plan(w.wants(postroom.Trash)).Note,
			"for 30 days, until "+time.Now().AddDate(0, 0, 30).Format("2006-01-02"))
		done := w.act(w.wants(postroom.Trash))
		require.Len(w, w.found("in:trash"), 2)
		w.undo(done.Batch)
		require.Len(w, w.found("in:inbox"), 2)
	})
}

// A label is one of the mailbox's own, by its name; what always asks is approved by the person who does it.
func TestASearchIsLabelledByItsPerson(t *testing.T) {
	asks := func(c *config.Config) { c.Policy.ApprovalAlways = append(c.Policy.ApprovalAlways, "apply_label") }
	each(t, 3, asks, func(w *world) {
		request := w.wants(postroom.ApplyLabel)
		request.Label = "tea"
		done := w.act(request)
		require.Equal(w, 3, done.Recorded)
		require.Empty(w, done.NotDone)
		require.Len(w, w.found("label:tea"), 3)
		w.undo(done.Batch)
		require.Empty(w, w.found("label:tea"))
	})
}

// What sends, deletes, or is about everything is refused, and so is what a dry run would not do.
func TestNotEverythingIsDoneToASearch(t *testing.T) {
	dry := func(c *config.Config) { c.Safety.DryRun = true }
	w := newWorld(t, "", 1, dry)
	for name, change := range map[string]func(r *bulk.Request){
		"sends":         func(r *bulk.Request) { r.Kind = postroom.Forward },
		"deletes":       func(r *bulk.Request) { r.Kind = postroom.Delete },
		"nothing":       func(r *bulk.Request) { r.Kind = postroom.None },
		"no kind":       func(r *bulk.Request) { r.Kind = "" },
		"all mail":      func(r *bulk.Request) { r.Query = " " },
		"too long":      func(r *bulk.Request) { r.Query = strings.Repeat("x", 1001) },
		"no label":      func(r *bulk.Request) { r.Kind = postroom.Move },
		"Gmail's label": func(r *bulk.Request) { r.Kind, r.Label = postroom.ApplyLabel, "INBOX" },
		"a label more":  func(r *bulk.Request) { r.Label = "Tea" },
	} {
		request := w.wants(postroom.Archive)
		change(&request)
		_, err := bulk.Plan(t.Context(), w.App, request)
		require.ErrorAs(t, err, new(usage.Error), name)
	}
	_, err := bulk.Act(t.Context(), w.App, w.wants(postroom.Archive), w.plan(w.wants(postroom.Archive)).Digest, nil)
	require.ErrorContains(t, err, "dry run")
}

// At most 500 are acted on at once, and the same request goes on with the rest.
func TestFiveHundredAreActedOnAtOnce(t *testing.T) {
	w := newWorld(t, "", 503, unchanged)
	p := w.plan(w.wants(postroom.MarkRead))
	require.Equal(t, 500, p.Count)
	require.True(t, p.More)
	w.act(w.wants(postroom.MarkRead))
	rest := w.plan(w.wants(postroom.MarkRead))
	require.Equal(t, 3, rest.Count)
	require.False(t, rest.More)
}

// What was shown once is done once, however often and by how many at once it is sent: one undo takes back all of it.
func TestAPreviewIsOneBatch(t *testing.T) {
	each(t, 60, unchanged, func(w *world) {
		shown := w.wants(postroom.Archive)
		p := w.plan(shown)
		shown.Batch = p.Batch
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				done, err := bulk.Act(w.Context(), w.App, shown, p.Digest, func(int, int) {})
				if err != nil || done.Batch != p.Batch {
					w.Errorf("batch %s: %v", done.Batch, err)
				}
			})
		}
		group.Wait()
		w.work()
		again, err := bulk.Act(w.Context(), w.App, shown, p.Digest, func(int, int) {})
		require.NoError(w, err)
		require.Equal(w, bulk.Done{Batch: p.Batch, Recorded: 60, NotDone: map[string]int{}}, again)
		archived := safety.Filter{Types: []postroom.ActionType{postroom.Archive}, Limit: 100}
		list, err := w.Ledger.Actions(w.Context(), archived)
		require.NoError(w, err)
		require.Len(w, list, 60)
		w.undo(p.Batch)
		require.Len(w, w.found("in:inbox"), 60)

		shown.Batch = "../x"
		_, err = bulk.Act(w.Context(), w.App, shown, p.Digest, func(int, int) {})
		require.ErrorAs(w, err, new(usage.Error))
		shown.Batch = ""
		require.NotEqual(w, p.Batch, w.plan(shown).Batch)
	})
}
