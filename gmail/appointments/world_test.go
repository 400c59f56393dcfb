package appointments_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const owner = "you@example.org"

// A desk is a folder, or the drafts of a mailbox, and what its mail names.
type desk struct {
	testing.TB

	q      *queue.Queue
	folder string
	keeper *appointments.Keeper
	found  map[string][]appointments.Appointment // by message
	drafts map[string]outbox.DraftContent        // by key
	calls  int                                   // of Create
	held   error
	failed error
}

func newDesk(t testing.TB, q *queue.Queue, drafts bool) *desk {
	t.Helper()
	require.NoError(t, appointments.Migrate(t.Context(), q.DB()))
	d := &desk{TB: t, q: q, found: map[string][]appointments.Appointment{}, drafts: map[string]outbox.DraftContent{}}
	cfg := appointments.Config{Queue: q, Held: func(context.Context) error { return d.held },
		Find: func(_ context.Context, _, id string) (appointments.Found, error) {
			return appointments.Found{Owner: owner, Subject: "Appointment:\r\nBcc: eve@bad.example\x00",
				Text: "Tea\n\x07at five", List: d.found[id]}, d.failed
		}}
	if drafts {
		cfg.Drafts = d
	} else {
		d.folder = t.TempDir()
		cfg.Folder = d.folder
	}
	var err error
	d.keeper, err = appointments.New(cfg)
	require.NoError(t, err)
	return d
}

// Create implements [appointments.Drafts]: a key has one draft, whatever is called how often.
func (d *desk) Create(ctx context.Context, _, key string, content outbox.DraftContent) (made outbox.Draft, err error) {
	err = queuetest.Outside(ctx, "make the draft", func() error {
		d.calls++
		if _, there := d.drafts[key]; !there {
			d.drafts[key] = content
		}
		return nil
	})
	return outbox.Draft{Key: key, ID: "r-" + key, State: outbox.DraftOpen}, err
}

func onBoth(t *testing.T, drafts bool, test func(d *desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		test(newDesk(t, q, drafts))
	})
}

func (d *desk) register(disp *queue.Dispatcher) { require.NoError(d, d.keeper.Register(disp)) }

// follow says that the message names these by now.
func (d *desk) follow(message string, list ...appointments.Appointment) {
	d.Helper()
	d.found[message] = list
	require.NoError(d, d.q.DB().Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
		return d.keeper.Follow(ctx, tx, "ada", message)
	}))
}

func (d *desk) work() { queuetest.Work(d, d.q, d.register) }

func (d *desk) places(message string) map[appointments.Key]appointments.Place {
	d.Helper()
	places, err := appointments.Places(d.Context(), d.q.DB().Reader(), "ada", message)
	require.NoError(d, err)
	return places
}

func (d *desk) path(name string) string { return filepath.Join(d.folder, name) }

func (d *desk) write(name, text string) {
	d.Helper()
	require.NoError(d, os.WriteFile(d.path(name), []byte(text), 0o600))
}

// files are the contents of the folder, by name.
func (d *desk) files() map[string]string {
	d.Helper()
	entries, err := os.ReadDir(d.folder)
	require.NoError(d, err)
	all := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(d.path(e.Name()))
		require.NoError(d, err)
		all[e.Name()] = string(content)
	}
	return all
}

func (d *desk) lines() (lines []string) {
	if d.folder != "" {
		for name, text := range d.files() {
			lines = append(lines, name+": "+text)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.drafts)) {
		lines = append(lines, key+strconv.Itoa(len(d.drafts[key].Attachments)))
	}
	return lines
}

func appointment(id, title, text string) appointments.Appointment {
	return appointments.Appointment{ID: id, Day: "2099-03-06", Title: title, ICS: []byte(text)}
}
