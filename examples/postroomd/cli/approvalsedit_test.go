package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// A person edits a forward, sees the bytes, approves them, and they arrive, once.
func TestAForwardIsEditedAndDeliveredOnce(t *testing.T) {
	m := newTeatime(t, forwardTea, "", letterWithFile)
	other, err := m.server.Account(t.Context(), colleague)
	require.NoError(t, err)
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	body := filepath.Join(t.TempDir(), "body.txt")
	require.NoError(t, os.WriteFile(body, []byte("Please answer.\r\n\r\nMe\r\n"), 0o600))

	edited := m.postroomd("approvals", "edit", id[:8], "--body-file", body, "--subject", "Fwd: Tea at five")
	require.Equal(t, 0, edited.status, edited.stderr)
	for _, line := range []string{`(?m)^edited +by `, `(?m)^Subject: +Fwd: Tea at five$`, `(?m)^\| Please answer\.$`,
		`(?m)^\| .*At five\?$`, `(?m)^attachment +plan\.txt`} {
		require.Regexp(t, line, edited.stdout)
	}
	require.NotContains(t, edited.stdout, "For you.")
	require.Equal(t, edited.stdout, m.postroomd("approvals", "show", id).stdout)
	raw := m.postroomd("approvals", "show", id, "--raw")
	require.Zero(t, m.sent())
	require.Equal(t, postroom.ActionPendingApproval, m.actions()[0].State)
	require.Contains(t, m.postroomd("audit", "verify").stdout, "faults   none")

	h := m.open()
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Ledger.Approve(ctx, tx, id, "ann")
		return err
	}))
	late := m.postroomd("approvals", "edit", id, "--subject", "x")
	require.Equal(t, exitUsage, late.status)
	require.Contains(t, late.stderr, "does not wait for approval")
	runOnce(t, m.where...)
	require.Equal(t, postroom.ActionCompleted, m.actions()[0].State)
	require.Equal(t, 1, m.sent())
	require.True(t, bytes.HasSuffix(onlyMail(t, other), []byte(raw.stdout)), "what was shown is what arrives")
}

// What cannot be edited says why, and nothing changes.
func TestWhatCannotBeEdited(t *testing.T) {
	m := newTeatime(t, answerTea, "", letterWithFile)
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	before := m.postroomd("approvals", "show", id, "--raw").stdout
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "body.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for says, args := range map[string][]string{
		"nothing was edited: the text is empty": {id, "--body-file", file(" \n")},
		"has a NUL character":                   {id, "--body-file", file("a\x00")},
		"at most 32768 are allowed":             {id, "--body-file", file(strings.Repeat("x", outbox.MaxEditedText+1))},
		"the subject has a line break":          {id, "--subject", "a\nb"},
		"the same as before":                    {id, "--body-file", file("Gladly.")},
		"no such file":                          {id, "--body-file", filepath.Join(t.TempDir(), "none")},
		"give the new text with --body-file":    {id},
		"'postroomd actions' lists the actions": {"none", "--subject", "x"},
	} {
		r := m.postroomd(append([]string{"approvals", "edit"}, args...)...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
	require.Equal(t, before, m.postroomd("approvals", "show", id, "--raw").stdout)

	h := m.open()
	w, err := h.WaitingRequest(t.Context(), id)
	require.NoError(t, err)
	w.Approval.ExpiresAt = time.Time{}
	_, err = h.EditShown(t.Context(), w.Approval, "ann", outbox.Edit{Text: new("Of course.")})
	require.NoError(t, err)
	_, err = h.EditShown(t.Context(), w.Approval, "ben", outbox.Edit{Text: new("Never.")})
	require.ErrorContains(t, err, "was edited since, look again")

	deletes := newTeatime(t, deleteTea, "", letterWithFile)
	runOnce(t, deletes.where...)
	r := deletes.postroomd("approvals", "edit", deletes.actions()[0].ID, "--subject", "x")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "delete: it sends no message: there is nothing to edit")
}
