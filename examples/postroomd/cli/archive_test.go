package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"filippo.io/age"
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// newArchived is a mailbox with an archive, whose rule deletes what is about tea.
func newArchived(t *testing.T) (m *teatime, folder string) {
	t.Helper()
	m, folder = newSignedIn(t), filepath.Join(t.TempDir(), "kept")
	m.where = append(m.where, "--set", "gmail.allow_delete=true", "--set", "archive.url=file://"+folder)
	signInWith(t, sample.Owner, []string{auth.ScopeModify, auth.ScopeFull}, m.where...)
	return m, folder
}

func (m *teatime) ok(args ...string) string {
	m.Helper()
	r := m.postroomd(args...)
	require.Equal(m, 0, r.status, r.stderr)
	return r.stdout
}

func (m *teatime) archived() archive.Status {
	m.Helper()
	var list []archive.Status
	require.NoError(m, json.Unmarshal([]byte(m.ok("archive", "list", "--json")), &list))
	require.Len(m, list, 1)
	return list[0]
}

func TestTheArchiveKeepsVerifiesAndBringsBack(t *testing.T) {
	m, folder := newArchived(t)
	m.deliver("Coffee?")
	m.deliver("Cake?")
	runOnce(t, m.where...)
	require.Contains(t, m.ok("archive", "run"), "being copied; a postroomd that runs carries it out")
	runOnce(t, m.where...)
	s := m.archived()
	require.Equal(t, 2, s.Messages)
	require.True(t, s.Complete)
	require.Contains(t, m.ok("archive", "list"), "2 messages, last copy")
	require.Contains(t, m.ok("archive", "verify", "--all"), "2 messages")

	to := filepath.Join(t.TempDir(), "mail.mbox")
	require.Contains(t, m.ok("archive", "export", "--to", to), "2 messages")
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Contains(t, string(text), "Subject: Coffee?")

	ids := m.ids()
	require.NoError(t, m.server.Person().Delete(t.Context(), ids...))
	m.ok("archive", "run")
	runOnce(t, m.where...)
	require.Equal(t, 2, m.archived().Gone)
	m.ok("archive", "restore", "--dry-run")
	runOnce(t, m.where...)
	require.Empty(t, m.ids())
	r := m.postroomd("archive", "restore")
	require.NotZero(t, r.status, "nobody can be asked")
	restored := m.ok("archive", "restore", "--yes")
	runOnce(t, m.where...)
	require.Len(t, m.ids(), 2)
	id := strings.TrimSuffix(strings.Fields(restored)[1], ";")
	require.Contains(t, m.ok("archive", "undo-restore", "--restore", id, "--dry-run"), "2 messages")
	m.ok("archive", "undo-restore", "--restore", id)
	runOnce(t, m.where...)
	require.Empty(t, m.ids())

	harmed, err := filepath.Glob(filepath.Join(folder, "v1", "*", "raw", "*", "*"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(harmed[0]))
	r = m.postroomd("archive", "verify", "--all")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stdout, "it is missing from the bucket")
	release, err := m.open().Env.Lock(t.Context())
	require.NoError(t, err)
	r = m.postroomd("archive", "rebuild")
	require.NotZero(t, r.status)
	require.Contains(t, r.stderr, "another postroomd is working")
	require.NoError(t, release())
	require.Contains(t, m.ok("archive", "rebuild"), "head")
}

// ids are those of the messages that are not in the trash.
func (m *teatime) ids() (ids []string) {
	m.Helper()
	messages, err := m.server.Snapshot(m.Context())
	require.NoError(m, err)
	for _, message := range messages {
		if !strings.Contains(strings.Join(message.Labels, " "), "TRASH") {
			ids = append(ids, message.ID)
		}
	}
	return ids
}

// With an archive a deletion keeps a copy first, and is undone like anything else; rules are not asked again.
func TestADeletionWithAnArchiveIsUndone(t *testing.T) {
	m, _ := newArchived(t)
	a := m.decided()
	require.Equal(t, postroom.ActionPendingApproval, a.State, a.Error)
	m.ok("approvals", "approve", a.ID)
	runOnce(t, m.where...)
	require.Equal(t, postroom.ActionCompleted, m.actions()[0].State, m.actions()[0].Error)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
	require.Empty(t, m.ids())
	require.Equal(t, 1, m.archived().Messages)

	m.ok("undo", a.ID)
	runOnce(t, m.where...)
	require.Len(t, m.ids(), 1)
	for _, a := range m.actions() {
		require.NotEqual(t, postroom.ActionPendingApproval, a.State, "the rule is not asked about what was put back")
	}
}

// Each action that has ended is a record of the archive once, however few are read at a time.
func TestActionsBecomeRecords(t *testing.T) {
	m := newTeatime(t, "{action: star}", "", letterWithFile, letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	n := len(m.actions())
	require.NotZero(t, n)
	h := m.open()
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	later := func() time.Time { return time.Now().Add(time.Hour) }
	for _, most := range []int{1, 100} {
		seen, cursor := map[string]bool{}, ""
		for {
			list, next, err := mailarchive.NewRecords(h.Ledger, h.Mail, later).After(t.Context(), accounts[0].ID, cursor, most)
			require.NoError(t, err)
			if len(list) == 0 {
				break
			}
			for _, text := range list {
				var r mailarchive.Record
				require.NoError(t, json.Unmarshal(text, &r))
				require.False(t, seen[r.ID], "once")
				seen[r.ID] = true
				require.Equal(t, postroom.Star, r.Action)
				require.NotEmpty(t, r.Rationale)
			}
			cursor = next
		}
		require.Len(t, seen, n)
	}
	list, _, err := mailarchive.NewRecords(h.Ledger, h.Mail, time.Now).After(t.Context(), accounts[0].ID, "", 100)
	require.NoError(t, err)
	require.Empty(t, list, "what has just ended may not be all yet")
}

func TestKeysOfTheArchive(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	keys, err := mailarchive.ReadKeys(writeFile(t, "archive.key", "# a comment\n"+key.String()+"\n"))
	require.NoError(t, err)
	require.Len(t, keys, 1)
	none, err := mailarchive.ReadKeys("")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = mailarchive.ReadKeys(filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "age-keygen")
	_, err = mailarchive.ReadKeys(writeFile(t, "wrong.key", "AGE-SECRET-KEY-1WRONG"))
	require.ErrorContains(t, err, "holds no keys")
	require.NotContains(t, err.Error(), "WRONG", "an error shows no key")
}

func TestTheCheckSaysWhatDeletingMeans(t *testing.T) {
	m, _ := newArchived(t)
	check := append([]string{"config", "check"}, m.where[:2]...)
	r := postroomd(t, append(check, m.where[4:]...)...)
	require.Contains(t, r.stdout, "only when the archive has a verified copy")
	r = postroomd(t, append(check, "--set", "gmail.allow_delete=true")...)
	require.Contains(t, r.stdout, "cannot be put back: archive.url names no archive")
	r = postroomd(t, append([]string{"archive", "list"}, m.where[:4]...)...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "set archive.url")
}

func TestTwoProgramsDoNotWriteOneArchive(t *testing.T) {
	m, dir := newArchived(t)
	runOnce(t, m.where...)
	bucket, err := folder.Open(dir)
	require.NoError(t, err)
	defer bucket.Close()
	release, err := bucket.Lock()
	require.NoError(t, err)
	for _, args := range [][]string{{"run", "--once"}, {"archive", "rebuild"}} {
		r := m.postroomd(args...)
		require.NotZero(t, r.status)
		require.Contains(t, r.stderr, "archive.url: ")
		require.Contains(t, r.stderr, dir)
		require.Contains(t, r.stderr, "another process writes into it; stop that one first")
	}
	m.ok("archive", "list")
	require.NoError(t, release())
	runOnce(t, m.where...)
}

// What is too old is removed from the folder, verification says so, and a deletion says before that it can't be undone.
func TestTheArchiveKeepsMailAsLongAsItIsTold(t *testing.T) {
	m, _ := newArchived(t)
	m.deliver("Coffee?")
	runOnce(t, m.where...)
	m.ok("archive", "run")
	runOnce(t, m.where...)
	require.Contains(t, m.ok("archive", "show"), m.archived().Email)
	var v mailarchive.View
	require.NoError(t, json.Unmarshal([]byte(m.ok("archive", "show", "--json")), &v))
	require.Len(t, v.Months, 1)
	require.Equal(t, 1, v.Months[0].Messages)
	r := m.postroomd("archive", "list", "--set", "archive.keep=10d")
	require.NotZero(t, r.status)
	require.Contains(t, r.stderr, `"10y"`)
	require.Contains(t, m.ok("archive", "verify", "--set", "archive.keep=10y"), "1 message")
}
