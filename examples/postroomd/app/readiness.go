package app

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

// MissingCredentials describes the accounts that this machine has no access to, one in each line; empty if there are
// none.
func (h *App) MissingCredentials() string {
	lacks := h.Inaccessible()
	lines := make([]string, 0, len(lacks))
	for _, address := range slices.Sorted(maps.Keys(lacks)) {
		lines = append(lines, address+": "+lacks[address])
	}
	return strings.Join(lines, "\n")
}

// NotReady describes the missing accounts and the reasons, one in each line; empty if all are set up and have their
// grants.
func (h *App) NotReady(ctx context.Context) string {
	lines := h.SignedOut(ctx)
	for _, a := range h.Awaited() {
		if line := h.explainAwaited(ctx, a); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, line := range h.notSetUp(ctx) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// notSetUp describes the accounts about whose mail nothing is decided, since they could not be set up.
func (h *App) notSetUp(ctx context.Context) (lines []string) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil // which SignedOut says
	}
	for _, a := range accounts {
		if a.SetupError != "" && a.State == mailstore.AccountActive {
			lines = append(lines, a.Email+": "+a.SetupError)
		}
	}
	return lines
}

// SignedOut describes the accounts whose grants are gone, and what to do about each.
func (h *App) SignedOut(ctx context.Context) (lines []string) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return []string{"the accounts cannot be read: " + err.Error()}
	}
	for _, a := range accounts {
		if a.State == mailstore.AccountReauthorize {
			lines = append(lines, a.Email+" has lost its grant: "+h.Env.HowToSignIn(a))
		}
	}
	return lines
}

func (h *App) explainAwaited(ctx context.Context, a pipeline.Awaited) string {
	switch {
	case a.What == pipeline.Stopping:
		return "postroomd stops"
	case a.Account == "":
		return a.What
	}
	if lost := h.signedOut(ctx, a.Account); lost != "" {
		return lost
	}
	if a.JobID != "" {
		if job, err := h.Queue.Job(ctx, a.JobID); err == nil {
			return strings.TrimSuffix(fmt.Sprintf("%s%s: job %s (%s) is %s: %s", a.Account, a.What, job.ID, job.Type,
				job.State, LastFailure(job)), ": ")
		}
	}
	return a.Account + a.What
}

// signedOut says of the mailbox that is waited for that its grant is gone, if so: nothing else brings it further.
func (h *App) signedOut(ctx context.Context, address string) string {
	lines := h.SignedOut(ctx)
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, address+" ") }); i >= 0 {
		return lines[i]
	}
	return ""
}

// LastFailure describes why the last attempt of a job failed; empty if none did.
func LastFailure(job *queue.Job) string {
	if job.LastError != "" {
		return "the last attempt failed: " + job.LastError
	}
	return ""
}

//go:embed migrations
var migrations embed.FS

// migrateProbe makes the table of the row that a health check writes.
func migrateProbe(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "postroomd", migrations)
}

const writeProbe = `
INSERT INTO postroomd_probes (id, written) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET written = postroomd_probes.written + 1`

// ProbeTimeout is how long a health check waits for the database.
const ProbeTimeout = 3 * time.Second

// Probe writes a row: a database that can be read and not be written, such as one on a full disk, is of no use.
func (h *App) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	probed := make(chan error, 1)
	go func() {
		probed <- h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, writeProbe)
			return err
		})
	}()
	select {
	case err := <-probed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
