package cli

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

// Many jobs are counted and asked about before they are canceled or run again; what is not selected stays.
func TestManyJobsAreAskedAbout(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "")
	runOnce(t, m.where...)
	h := m.open()
	accountID, err := h.OpenConfiguredAccount(t.Context())
	require.NoError(t, err)
	for n := range 3 {
		_, err := h.Queue.Enqueue(t.Context(), gmail.NewIngestJob(accountID, strconv.Itoa(n)))
		require.NoError(t, err)
	}
	states := func() map[queue.State]int {
		counts, err := h.Queue.Counts(t.Context(), queue.Filter{Types: []string{string(gmail.JobIngest)}})
		require.NoError(t, err)
		return counts
	}

	for flags, fault := range map[string]string{
		"":                                      "flags that select jobs",
		"--state queued":                        "flags that select jobs",
		"x --type ingest.gmail":                 "not both",
		"--type ingest.gmail --state completed": "to cancel there are only queued, running",
	} {
		r := m.postroomd(append([]string{"jobs", "cancel"}, strings.Fields(flags)...)...)
		require.Equal(t, exitUsage, r.status, flags)
		require.Contains(t, r.stderr, fault)
	}
	r := m.postroomd("jobs", "cancel", "--type", "ingest.gmail")
	require.Equal(t, exitUsage, r.status)
	require.Equal(t, "  ingest.gmail: 3 queued\n", r.stdout)
	require.Contains(t, r.stderr, "nobody can be asked here; add --yes to go on")
	require.Equal(t, 3, states()[queue.StateQueued])

	r = m.postroomd("jobs", "cancel", "--type", "ingest.gmail", "--state", "running", "--yes")
	require.Equal(t, "0 jobs canceled\n", r.stdout)
	r = m.postroomd("jobs", "cancel", "--type", "ingest.gmail", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, "  ingest.gmail: 3 queued\n3 jobs canceled\n", r.stdout)
	require.Equal(t, 3, states()[queue.StateCanceled])

	r = m.postroomd("jobs", "retry", "--type", "ingest.gmail", "--yes")
	require.Equal(t, "0 jobs are to be run again\n", r.stdout, "only failed ones are, unless a state is given")
	r = m.postroomd("jobs", "retry", "--type", "ingest.gmail", "--state", "canceled", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "  ingest.gmail: 3 canceled\n3 jobs are to be run again; ")
	require.Equal(t, 3, states()[queue.StateQueued])
}

// What the ledger has as ended is not begun again by the retry of many jobs either.
func TestTheRetryOfManyJobsLeavesEndedActions(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	runOnce(t, m.where...)
	h := m.open()
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed' WHERE type = $1", string(gmail.JobAction))
		return err
	}))
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE actions SET state = 'failed'")
		return err
	}))
	r := m.postroomd("jobs", "retry", "--type", string(gmail.JobAction), "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "0 jobs are to be run again\n1 job is left, since the action has ended for good\n")
}
