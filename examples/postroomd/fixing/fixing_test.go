package fixing_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

func TestMain(m *testing.M) { dbtest.Main(m, app.Migrate) }

const shopRules = `# mine
rules:
  # All that shops send.
  - name: Shops
    condition: {type: subject_contains, value: offer}
    action: archive
  - name: Rest
    condition: {type: subject_contains, value: offer}
    action: delete
    safe_mode: dangerous_override
`

// A world is a mailbox with rules, of a file or stored, and with mail about which they have decided.
type world struct {
	*testing.T
	*app.App
	account mailstore.Account
	path    string // of the file; empty: the rules are stored
}

// each runs a test on both databases, with rules of a file and stored ones.
func each(t *testing.T, fn func(w *world)) {
	for name, dsn := range map[string]func() string{"sqlite": func() string { return "" },
		"postgres": func() string { return dbtest.MigratedDSN(t) }} {
		t.Run(name, func(t *testing.T) { fn(newWorld(t, dsn(), "")) })
		t.Run(name+", file", func(t *testing.T) { fn(newWorld(t, dsn(), filepath.Join(t.TempDir(), "rules.yaml"))) })
	}
}

func newWorld(t *testing.T, database, path string) *world {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), OldMail: config.SortOldMail,
		AllowDelete: true}
	cfg.Paths.Database = config.Database(database)
	if path != "" {
		require.NoError(t, os.WriteFile(path, []byte(shopRules), 0o600))
		cfg.Paths.Rules = config.Path(path)
	}
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	if !cfg.Paths.Database.Postgres() {
		dbtest.MigratedFile(t, env.Database())
	}
	a, err := app.New(t.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	w := &world{T: t, App: a, path: path}
	w.work()
	accounts, err := a.Mail.Accounts(t.Context())
	require.NoError(t, err)
	w.account = accounts[0]
	if path == "" {
		w.save(shopRules)
	}
	for _, mail := range []string{"ada@shop.example", "bob@shop.example", "cay@else.example"} {
		raw := "From: " + mail + "\r\nTo: " + sample.Owner + "\r\nSubject: An offer\r\nMessage-ID: <" + mail +
			">\r\n\r\nBuy.\r\n"
		_, err := server.Deliver(t.Context(), []byte(raw))
		require.NoError(t, err)
	}
	w.work()
	return w
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

// save replaces the rules.
func (w *world) save(text string) {
	w.Helper()
	before, err := w.RuleEditor.Text(w.Context(), w.account.ID)
	require.NoError(w, err)
	file, err := w.RuleEditor.Parse(w.path, text)
	require.NoError(w, err)
	_, err = w.RuleEditor.Save(w.Context(), w.account.ID, "Ann", before, file)
	require.NoError(w, err)
}

// from is the message of a sender.
func (w *world) from(sender string) *postroom.Message {
	w.Helper()
	for m, err := range w.Mail.AllMessages(w.Context(), w.account.ID, mailstore.MessageRange{}) {
		require.NoError(w, err)
		if m.From.Email == sender {
			return m
		}
	}
	require.FailNow(w, "no mail of "+sender)
	return nil
}

func (w *world) open(m *postroom.Message) *fixing.Case {
	w.Helper()
	c, err := fixing.Open(w.Context(), w.App, w.account, m)
	require.NoError(w, err)
	return c
}

func (w *world) propose(m *postroom.Message, o fixing.Order) *fixing.Proposal {
	w.Helper()
	p, err := w.open(m).Propose(w.Context(), o)
	require.NoError(w, err)
	return p
}

func (w *world) fix(m *postroom.Message, o fixing.Order) error {
	w.Helper()
	_, err := fixing.Save(w.Context(), w.App, w.account, m, o, w.propose(m, o).Digest, "Ann")
	return err
}

// A proposal says what changes and saves nothing; saved, it is a version of the rules, and the file keeps its comments.
func TestRulesAreFixed(t *testing.T) {
	each(t, func(w *world) {
		m := w.from("ada@shop.example")
		c := w.open(m)
		require.Equal(w, []fixing.Decider{{Rule: "Shops", Does: []string{"archive"}, Decided: true, Now: true}}, c.Deciders)
		require.Equal(w, []string{"archive"}, c.Now)
		before, err := w.RuleEditor.Text(w.Context(), w.account.ID)
		require.NoError(w, err)

		change := fixing.Order{Way: fixing.Change, Action: postroom.Star, Test: true}
		p := w.propose(m, change)
		require.True(w, p.Met)
		require.Equal(w, []string{"star"}, p.Then)
		require.Empty(w, p.Failed)
		require.Len(w, p.Differences, 2)
		require.Contains(w, p.Differences[0], "-     action: archive\n+     action: star\n")
		tried, err := p.Try(w.Context())
		require.NoError(w, err)
		require.Equal(w, 3, tried.Changed, "the rule is changed for all")
		there, err := w.RuleEditor.Text(w.Context(), w.account.ID)
		require.NoError(w, err)
		require.Equal(w, before, there, "nothing is saved")

		require.NoError(w, w.fix(m, change))
		there, err = w.RuleEditor.Text(w.Context(), w.account.ID)
		require.NoError(w, err)
		if w.path != "" {
			require.Contains(w, there, "# mine")
			require.Contains(w, there, "# All that shops send.")
		}
		require.Contains(w, there, "tests:")
		require.Equal(w, []string{"star"}, w.open(m).Now)
		list, err := w.Rules.List(w.Context())
		require.NoError(w, err)
		require.Equal(w, postroom.Star, list[0].Action)
		require.Equal(w, []fixing.Decider{{Rule: "Shops", Does: []string{"star"}, Now: true}}, w.open(m).Deciders,
			"it has not decided so")
	})
}

// An exception is for mail like the message; what the rules after it would do is said, and that it is dangerous.
func TestAnExceptionSaysWhatComesAfterIt(t *testing.T) {
	each(t, func(w *world) {
		m := w.from("ada@shop.example")
		p := w.propose(m, fixing.Order{Way: fixing.Except, About: ruledraft.AboutDomain})
		require.Equal(w, []string{"delete"}, p.Then)
		require.True(w, p.Met)
		require.Len(w, p.Dangers, 1)
		require.Contains(w, p.Dangers[0], `"Rest"`)
		require.Contains(w, p.Dangers[0], "nobody is asked first")
		tried, err := p.Try(w.Context())
		require.NoError(w, err)
		require.Equal(w, 2, tried.Changed, "those of the domain")
		require.Equal(w, []string{"delete: 2 of the messages, which cannot be taken back."}, p.Dangerous(tried))

		above := fixing.Order{Way: fixing.Rule, Action: postroom.Star}
		p = w.propose(m, above)
		require.Empty(w, p.Dangers)
		require.True(w, p.Met)
		require.NoError(w, w.fix(m, above))
		require.Equal(w, []string{"star"}, w.open(m).Now)
		require.Equal(w, []string{"archive"}, w.open(w.from("bob@shop.example")).Now)
	})
}

// What was shown is saved, or nothing.
func TestAFixIsSavedAsItWasShown(t *testing.T) {
	each(t, func(w *world) {
		m := w.from("ada@shop.example")
		order := fixing.Order{Way: fixing.Test, Action: postroom.Star}
		p := w.propose(m, order)
		require.False(w, p.Decides)
		require.False(w, p.Met)
		require.Len(w, p.Failed, 1, "the rules do not do it yet")
		w.save(strings.Replace(shopRules, "action: archive", "action: mark_read", 1))
		_, err := fixing.Save(w.Context(), w.App, w.account, m, order, p.Digest, "Ann")
		require.ErrorIs(w, err, fixing.ErrChanged)
		order.Action = postroom.Archive
		_, err = fixing.Save(w.Context(), w.App, w.account, m, order, w.propose(m, fixing.Order{Way: fixing.Test,
			Action: postroom.Star}).Digest, "Ann")
		require.ErrorIs(w, err, fixing.ErrChanged, "another thing was shown")
		require.NoError(w, w.fix(m, order))

		refused := func(o fixing.Order) {
			_, err := w.open(m).Propose(w.Context(), o)
			require.ErrorAs(w, err, new(usage.Error), "%+v", o)
		}
		refused(fixing.Order{Way: "magic", Action: postroom.Star})
		refused(fixing.Order{Way: fixing.Change, Rule: "Rest", Action: postroom.Star})
		refused(fixing.Order{Way: fixing.Change, Action: postroom.Delete})
		refused(fixing.Order{Way: fixing.Rule})
		refused(order) // there is such a test
		w.save("rules: []\n")
		refused(fixing.Order{Way: fixing.Except})
		require.NoError(w, w.fix(m, fixing.Order{Action: postroom.Archive}), "a new rule needs none that decides")
	})
}

// A new rule before one that goes on goes on, too, so that mail keeps the labels that it has of later rules; its test
// expects all that.
func TestANewRuleBeforeOneThatGoesOnDoesSo(t *testing.T) {
	each(t, func(w *world) {
		w.save(`rules:
  - name: Shops
    condition: {type: subject_contains, value: offer}
    action: archive
    stop: false
`)
		m := w.from("ada@shop.example")
		star := fixing.Order{Way: fixing.Rule, Action: postroom.Star, Test: true}
		p := w.propose(m, star)
		require.Equal(w, []string{"star", "archive"}, p.Then)
		require.Empty(w, p.Failed)
		require.Equal(w, []string{"leave alone"},
			w.propose(m, fixing.Order{Way: fixing.Rule, Action: postroom.None}).Then)
	})
}

// A rule of all mailboxes that decides is tried after the new one, and is part of a trial.
func TestANewRuleIsBeforeThoseOfAllMailboxes(t *testing.T) {
	each(t, func(w *world) {
		w.save("rules: []\n")
		global := rules.NewRule("Global", rules.Condition{Type: rules.SubjectContains, Value: "offer"}, postroom.Archive, nil)
		global.Priority = 5
		require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := w.Rules.Create(ctx, tx, global)
			return err
		}))
		p := w.propose(w.from("ada@shop.example"), fixing.Order{Way: fixing.Rule, Action: postroom.Star})
		require.Equal(w, []string{"star"}, p.Then)
		require.Contains(w, p.Says, `before "Global"`)
		tried, err := p.Try(w.Context())
		require.NoError(w, err)
		require.Equal(w, 1, tried.Changed, "the others have the rule of all mailboxes")
	})
}
