package gmail

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) mailbox() *Mailbox {
	m, err := NewMailbox(MailboxConfig{Store: w.store, Clients: w.cfg.Clients})
	require.NoError(w.t, err)
	return m
}

func TestMailboxApply(t *testing.T) {
	tests := []struct {
		name   string
		before []string
		change postroom.LabelChange
		after  []string
		calls  int
	}{
		{"nothing", []string{"INBOX"}, postroom.LabelChange{}, []string{"INBOX"}, 1},
		{"labels", []string{"INBOX", "UNREAD"}, postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"INBOX", "UNREAD"}}, []string{"STARRED"}, 1},
		{"into the trash", []string{"INBOX", "UNREAD"}, add("TRASH"), []string{"TRASH", "UNREAD"}, 1},
		{"into the trash, and a label", []string{"INBOX", "UNREAD"}, postroom.LabelChange{Add: []string{"TRASH", "STARRED"}, Remove: []string{"UNREAD"}}, []string{"STARRED", "TRASH"}, 2},
		{"out of the trash", []string{"TRASH"}, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"TRASH"}}, []string{"INBOX"}, 2},
		{"what is so already", []string{"INBOX"}, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"TRASH"}}, []string{"INBOX"}, 2},
	}
	w := newWorld(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id, providerID := w.known(tt.before...)
			calls := len(w.server.Calls())
			image, err := w.mailbox().Apply(t.Context(), w.account, id, tt.change)
			require.NoError(t, err)
			require.Len(t, w.server.Calls(), calls+tt.calls)
			require.Equal(t, postroom.NewSnapshot(tt.after), image)
			atGmail, here := w.labels(providerID)
			require.Equal(t, tt.after, atGmail)
			require.Equal(t, tt.before, here, "what is stored is the caller's to change")

			again, err := w.mailbox().Apply(t.Context(), w.account, id, tt.change)
			require.NoError(t, err)
			require.Equal(t, image, again, "it can be repeated")
		})
	}
}

func TestMailboxApplyThatBreaksOff(t *testing.T) {
	change := postroom.LabelChange{Add: []string{"INBOX", "STARRED"}, Remove: []string{"TRASH"}}
	faults := map[string]gmailtest.Fault{
		"between the calls":    {Method: gmailtest.MessagesModify, Cut: gmailtest.CutBefore},
		"after the first":      {Method: gmailtest.MessagesUntrash, Cut: gmailtest.CutAfter},
		"after the second one": {Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id, _ := w.known("TRASH")
			w.server.Fault(fault)
			_, err := w.mailbox().Apply(t.Context(), w.account, id, change)
			require.Equal(t, gmailapi.ClassNetwork, gmailapi.ClassOf(err))
			image, err := w.mailbox().Apply(t.Context(), w.account, id, change)
			require.NoError(t, err)
			require.Equal(t, []string{"INBOX", "STARRED"}, image.LabelIDs)
		})
	}
}

func TestMailboxImage(t *testing.T) {
	w := newWorld(t)
	id, providerID := w.known("INBOX")
	w.modify(providerID, add("STARRED"))
	image, err := w.mailbox().Snapshot(t.Context(), w.account, id)
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "STARRED"}, image.LabelIDs)

	w.undo(id, remove("INBOX"))
	_, here := w.labels(providerID)
	require.Empty(t, here, "the star is a person's, and comes by the history")
}

func TestMailboxErrorsAreVerdicts(t *testing.T) {
	w := newWorld(t)
	id, providerID := w.known("INBOX")
	_, err := w.mailbox().Snapshot(t.Context(), w.account, "no-such-message")
	require.ErrorIs(t, err, postroom.ErrNotFound)
	require.IsType(t, queue.Fatal(err), err)

	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Status: 429})
	_, err = w.mailbox().Snapshot(t.Context(), w.account, id)
	require.Equal(t, queue.Defer(errors.Unwrap(err), gmailapi.RateLimitDelay), err)

	require.NoError(t, w.google.Users.Messages.Delete("me", providerID).Do())
	_, err = w.mailbox().Apply(t.Context(), w.account, id, add("STARRED"))
	require.ErrorIs(t, err, postroom.ErrMessageGone)
	require.Equal(t, queue.Fatal(errors.Unwrap(err)), err)

	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) {
		return nil, errors.New("no token")
	})
	_, err = w.mailbox().Snapshot(t.Context(), w.account, id)
	require.EqualError(t, err, "no token")

	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return nil, nil })
	_, err = w.mailbox().Snapshot(t.Context(), w.account, id)
	require.ErrorContains(t, err, "Clients returned nil and no error")
}

func TestConfigIsChecked(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		name  string
		spoil func(*Config)
		want  string
	}{
		{"no store", func(c *Config) { c.Store = nil }, "Config.Store is nil"},
		{"no clients", func(c *Config) { c.Clients = nil }, "Config.Clients is nil"},
		{"pages too large", func(c *Config) { c.PageSize = 501 }, "Config.PageSize is 501"},
		{"pages too small", func(c *Config) { c.PageSize = -1 }, "Config.PageSize is -1"},
		{"a ledger that is nil", func(c *Config) { c.Ledger = (*worldtest.Ledger)(nil) }, "Config.Ledger holds a nil *worldtest.Ledger"},
		{"clients that are a nil function", func(c *Config) { c.Clients = gmailapi.ClientsFunc(nil) }, "Config.Clients holds a nil gmailapi.ClientsFunc"},
		// It would make every message a broken one.
		{"a limit below nothing", func(c *Config) { c.MailLimits = &mime.Limits{Depth: -1} }, "Config.MailLimits: mime: Limits.Depth is -1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := queue.NewDispatcher(w.queue, nil)
			require.NoError(t, err)
			cfg := w.cfg
			tt.spoil(&cfg)
			require.ErrorContains(t, Register(d, cfg), "gmail: "+tt.want)
			require.NoError(t, Register(d, w.cfg), "nothing was registered before")
		})
	}
	require.ErrorContains(t, Register(nil, w.cfg), "gmail: Register: the Dispatcher is nil")
	c, err := w.cfg.withDefaults()
	require.NoError(t, err)
	require.Same(t, slog.Default(), c.Logger)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := gmailapi.NewClient(gmailapi.ClientConfig{})
	require.ErrorContains(t, err,
		"gmail: ClientConfig.HTTPClient is nil; it is required: give a client that authorizes requests")
	_, err = gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: http.DefaultClient, Timeout: -1})
	require.ErrorContains(t, err, "gmail: ClientConfig.Timeout")
	_, err = mailstore.New(mailstore.Config{})
	require.EqualError(t, err,
		"mailstore: Config.DB is nil; it is required: give a database opened with queue/sqlite or queue/postgres")
	_, err = NewMailbox(MailboxConfig{})
	require.ErrorContains(t, err, "gmail: MailboxConfig.Store is nil; it is required: give a store made by mailstore.New")
	require.ErrorContains(t, err,
		"gmail: MailboxConfig.Clients is nil; it is required: give what finds an account's client")
	require.ErrorContains(t, mailstore.Migrate(t.Context(), nil), "mailstore: Migrate: db is nil")
}

func TestAHostThatFindsNoClient(t *testing.T) {
	w := newWorld(t)
	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return nil, nil })
	job := w.job(w.run(NewLabelsSyncJob(w.account)))
	require.Equal(t, queue.StateFailed, job.State)
	require.Contains(t, job.LastError, "client of account "+w.server.Email()+": Clients returned nil and no error")
}

func TestWithoutALedgerActionsAreNotHandled(t *testing.T) {
	w := newWorld(t)
	id := w.queued(postroom.Action{MessageID: "m", Type: postroom.Archive})
	w.cfg.Ledger, w.cfg.Outbox = nil, nil
	w.run(NewActionJob(w.account, id))
	require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs("action.gmail"))
}

func TestMailboxCopies(t *testing.T) {
	w := newWorld(t)
	id, _ := w.known("INBOX", "UNREAD")
	gone, providerID := w.known("INBOX")
	err := w.store.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.store.Copies().MarkDeleted(ctx, tx, w.account, providerID)
		return err
	})
	require.NoError(t, err)
	calls := len(w.server.Calls())
	copies, err := w.mailbox().Copies(t.Context(), w.account, []string{id, gone, "unknown"})
	require.NoError(t, err)
	require.Equal(t, map[string]postroom.Snapshot{id: postroom.NewSnapshot([]string{"INBOX", "UNREAD"})}, copies)
	require.Len(t, w.server.Calls(), calls, "Gmail is not asked")
}

// TestMailboxMissingLabels: before the labels were read, none is known to be missing.
func TestMailboxMissingLabels(t *testing.T) {
	w := newWorld(t)
	asked := []string{"STARRED", "Label_1", "Label_9"}
	save := func(ids ...string) {
		require.NoError(t, w.store.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
			for _, id := range ids {
				err = errors.Join(err, w.store.SaveLabel(ctx, tx, w.account,
					postroom.Label{ID: id, Name: id, Type: postroom.LabelUser}))
			}
			return err
		}))
	}
	for _, step := range []struct{ stored, missing []string }{
		{nil, nil},
		{[]string{"Label_1"}, nil},
		{[]string{"INBOX", "STARRED"}, []string{"Label_9"}},
	} {
		save(step.stored...)
		missing, err := w.mailbox().MissingLabels(t.Context(), w.account, asked)
		require.NoError(t, err)
		require.Equal(t, step.missing, missing)
	}
}
