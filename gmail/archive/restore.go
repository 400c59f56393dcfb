package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// RestoreJob puts archived messages into a mailbox, each once, and UndoRestoreJob moves those that it has put there to
// the trash.
const (
	RestoreJob     queue.Type[RestorePayload] = "archive.restore"
	UndoRestoreJob queue.Type[UndoPayload]    = "archive.unrestore"
)

// A Restore describes a restore.
type Restore struct {
	// ID identifies the restore. A restore of an id that ended brings nothing twice. Required; at most 100 bytes.
	ID string `json:"id"`
	// Source is the account of the archive, and AccountID the account of the mailbox, which may be another. Required.
	Source    string `json:"source"`
	AccountID string `json:"account_id"`
	// Selection selects the messages. The zero Selection selects all.
	Selection Selection `json:"selection,omitzero"`
	// Label is the name of a label that each message gets besides its own. Empty: none.
	Label string `json:"label,omitempty"`
	// DryRun asks Gmail which messages are missing, and changes nothing.
	DryRun bool `json:"dry_run,omitempty"`
}

// A RestorePayload is a restore, and how far it has come.
type RestorePayload struct {
	Restore
	After string `json:"after,omitempty"` // the last message that was looked at
}

// An UndoPayload names the restore that is undone, and how far that has come.
type UndoPayload struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	After     string `json:"after,omitempty"`
}

// NewRestoreJob makes the job of a restore. Its key allows one unfinished job of an id.
func NewRestoreJob(r Restore) (queue.NewJob, error) {
	err := errors.Join(checkAccount(r.Source), checkAccount(r.AccountID))
	if r.ID == "" || len(r.ID) > 100 {
		err = errors.Join(err, errors.New("archive: Restore.ID must have 1 to 100 bytes"))
	}
	if r.Label != "" {
		if fault := postroom.CheckLabelName(r.Label); fault != nil {
			err = errors.Join(err, fmt.Errorf("archive: Restore.Label: %w", fault))
		}
	}
	return RestorePayload{Restore: r}.job(), err
}

func (p RestorePayload) job() queue.NewJob {
	return RestoreJob.New(p, options(string(RestoreJob)+":"+p.ID, mailstore.LimitKey(p.AccountID)))
}

// NewUndoRestoreJob makes the job that undoes a restore of a mailbox. Its key allows one unfinished job of a restore.
func NewUndoRestoreJob(restoreID, accountID string) queue.NewJob {
	return UndoPayload{ID: restoreID, AccountID: accountID}.job()
}

func (p UndoPayload) job() queue.NewJob {
	return UndoRestoreJob.New(p, options(string(UndoRestoreJob)+":"+p.ID, mailstore.LimitKey(p.AccountID)))
}

// restoreBatch is how many messages one job brings back, at about 70 units of quota each.
const restoreBatch = 50

// restore brings some messages back, and enqueues the next job.
func (a *Archive) restore(ctx context.Context, w *queue.Work[RestorePayload]) error {
	p := w.Payload
	_, client, err := a.open(ctx, p.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	im := &importer{Archive: a, id: p.ID, source: p.Source, accountID: p.AccountID, label: p.Label, dryRun: p.DryRun,
		client: client}
	begun, n := time.Now(), 0
	for e, err := range a.Entries(ctx, p.Source, p.After, p.Selection) {
		if err == nil && (n == restoreBatch || time.Since(begun) > sliceTime) {
			return goOn(ctx, w, p.job(), nil)
		}
		if err == nil {
			_, err = im.bring(ctx, &e)
		}
		if err != nil {
			return im.verdict(ctx, w, p, err, n)
		}
		p.After = e.MessageID
		n++
	}
	report, err := a.RestoreReport(ctx, p.ID)
	w.SetResult(report)
	return err
}

// verdict ends a job that has brought some messages and met a limit with the job that goes on after it.
func (im *importer) verdict(ctx context.Context, w *queue.Work[RestorePayload], p RestorePayload, err error,
	n int) error {
	var limit *gmailapi.Error
	if n == 0 || !errors.As(err, &limit) || !limit.Class.Defers() {
		return gmailapi.Verdict(err)
	}
	next := p.job()
	next.NotBefore = time.Now().Add(limit.Delay())
	return goOn(ctx, w, next, nil)
}

// undoRestore moves some of the messages that a restore has put into the mailbox to the trash, and enqueues the next
// job. One that is no longer there is undone.
func (a *Archive) undoRestore(ctx context.Context, w *queue.Work[UndoPayload]) error {
	p := w.Payload
	_, client, err := a.open(ctx, p.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	var rows []restoredRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlRestoredAfter, p.ID, string(Restored), p.After,
		restoreBatch); err != nil {
		return fmt.Errorf("archive: restore %s: %w", p.ID, err)
	}
	for i := range rows {
		if rows[i].AccountID != p.AccountID {
			return queue.Fatal(fmt.Errorf("archive: restore %s is of another mailbox", p.ID))
		}
		if _, err := client.Trash(ctx, rows[i].NewID); err != nil && !errors.Is(err, postroom.ErrMessageGone) {
			return gmailapi.Verdict(err)
		}
		rows[i].Outcome = Undone
		if err := a.saveRestored(context.WithoutCancel(ctx), rows[i]); err != nil {
			return err
		}
		p.After = rows[i].MessageID
	}
	if len(rows) == restoreBatch {
		return goOn(ctx, w, p.job(), nil)
	}
	report, err := a.RestoreReport(ctx, p.ID)
	w.SetResult(report)
	return err
}

// RestoreReport returns how many messages of a restore have each outcome.
func (a *Archive) RestoreReport(ctx context.Context, restoreID string) (map[Outcome]int, error) {
	var rows []struct {
		Outcome  Outcome `db:"outcome"`
		Messages int     `db:"messages"`
	}
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlCountRestored, restoreID); err != nil {
		return nil, fmt.Errorf("archive: restore %s: %w", restoreID, err)
	}
	report := map[Outcome]int{}
	for _, r := range rows {
		report[r.Outcome] = r.Messages
	}
	return report, nil
}
