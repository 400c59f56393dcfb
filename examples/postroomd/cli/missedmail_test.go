package cli

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
)

// forbidding is a Gmail that lists its mail and lets nobody read it.
func forbidding(t *testing.T) *teatime {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	m.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Status: http.StatusForbidden, Times: -1})
	return m
}

// Mail that was listed and could not be read is heard of, and the next run takes it in.
func TestRunOnceTakesInWhatItHasMissed(t *testing.T) {
	m := forbidding(t)
	for range 2 {
		first := failedRun(t, m.where...)
		require.Empty(t, first.Broken, "Gmail's answers were not odd")
		require.Regexp(t,
			`^2 messages are not taken in, and are tried again by 'postroomd run' or the next run; the last error, of job [0-9a-f-]+ \(ingest\.gmail\): .*forbidden`,
			first.Mailboxes[0].Failure)
	}
	require.Contains(t, m.postroomd("run", "--once").stdout, sample.Owner+
		" could not be worked on: 2 messages are not taken in")
	m.server.ClearFaults()
	require.Equal(t, 2, runOnce(t, m.where...).New)
}

func TestADaemonTakesInWhatWasMissed(t *testing.T) {
	m := forbidding(t)
	failedRun(t, m.where...)
	m.server.ClearFaults()
	r := start(t, m.where...)
	r.eventually("it is taken in", func() bool { return idle(t, m.server, m.where...) })
	r.stop()
}

// A person retries what may kill its workers, and what needs a repair first.
func TestAStartRetriesNeitherCrashesNorBrokenMessages(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "")
	runOnce(t, m.where...)
	h := m.open()
	accountID, err := h.OpenConfiguredAccount(t.Context())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change string // of the job's row; ?1 is its id
		after  queue.State
	}{
		"crashed":     {"UPDATE jobs SET crashes = 6 WHERE id = ?1", queue.StateFailed},
		"interrupted": {"UPDATE jobs SET interruptions = 1001 WHERE id = ?1", queue.StateQueued},
		"failed":      {"UPDATE jobs SET failures = 1, crashes = 1 WHERE id = ?1", queue.StateQueued},
		"broken": {`INSERT INTO broken_messages (account_id, provider_message_id, job_id, reason, subject, snippet, raw, created_at, updated_at)
			SELECT id, 'broken', ?1, '', '', '', '', created_at, created_at FROM accounts`, queue.StateFailed},
	} {
		job, err := h.Queue.Enqueue(t.Context(), gmail.NewIngestJob(accountID, name))
		require.NoError(t, err)
		require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, fails := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed', finished_at = created_at WHERE id = ?1", job.ID)
			_, changes := tx.ExecContext(ctx, c.change, job.ID)
			return errors.Join(fails, changes)
		}))
		require.NoError(t, h.RetryMissed(t.Context(), accountID))
		after, err := h.Queue.Job(t.Context(), job.ID)
		require.NoError(t, err)
		require.Equal(t, c.after, after.State, name)
	}
	fault, err := h.MissedBy(t.Context(), accountID)
	require.NoError(t, err)
	require.ErrorContains(t, fault, "1 message is not taken in, and is tried again by 'postroomd jobs retry ")
}
