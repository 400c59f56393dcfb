package gmail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// reconciliations are the rows of the runs, of what they have listed, and of what they suspect.
type reconciliations struct{ db queue.DB }

func (j *jobs) runs() reconciliations { return reconciliations{j.Store.DB()} }

// A reconcilePhase is a part of a reconciliation.
type reconcilePhase string

const (
	phaseList    reconcilePhase = "list"
	phaseCompare reconcilePhase = "compare"
	phaseMissing reconcilePhase = "missing"
	phaseVerify  reconcilePhase = "verify"
	phaseClean   reconcilePhase = "clean"
	phaseDone    reconcilePhase = "done"
)

// A reconcileRun is the row of an account's last reconciliation.
type reconcileRun struct {
	AccountID  string
	Run        int64 // distinguishes the rows of this run from those of an earlier one
	Seq        int64 // of the one job that may continue
	Cause      ReconcileCause
	Phase      reconcilePhase
	HistoryID  uint64
	Since      uint64   // the cursor before the gap
	Lists      []string // labels to list; "" is the list of all
	Page       string   // Gmail's token of the next page, or the last id that was compared
	Listed     int
	Added      int
	Relabelled int
	Deleted    int
	Restored   int
	StartedAt  dbtime.Time
	FinishedAt dbtime.Time
}

type runRow struct {
	AccountID  string          `db:"account_id"`
	Run        int64           `db:"run"`
	Seq        int64           `db:"seq"`
	Cause      ReconcileCause  `db:"cause"`
	Phase      reconcilePhase  `db:"phase"`
	HistoryID  int64           `db:"history_id"`
	Since      int64           `db:"since"`
	Lists      maildb.JSONText `db:"lists_json"`
	Page       string          `db:"page"`
	Listed     int             `db:"listed"`
	Added      int             `db:"added"`
	Relabelled int             `db:"relabelled"`
	Deleted    int             `db:"deleted"`
	Restored   int             `db:"restored"`
	StartedAt  dbtime.Time     `db:"started_at"`
	FinishedAt dbtime.Time     `db:"finished_at"`
}

func (r *reconcileRun) report() Reconciliation {
	return Reconciliation{
		AccountID: r.AccountID, Cause: r.Cause, HistoryID: r.HistoryID, Listed: r.Listed, Added: r.Added,
		Relabelled: r.Relabelled,
		Deleted:    r.Deleted, Restored: r.Restored, StartedAt: r.StartedAt.Time, FinishedAt: r.FinishedAt.Time,
	}
}

// job makes the run's next job.
func (r *reconcileRun) job() queue.NewJob {
	return ReconcilePayload{AccountID: r.AccountID, Step: r.Seq}.job()
}

// ingest makes the job of a missing message. The job that fetched it before, if any, is of no use now.
func (r *reconcileRun) ingest(providerID string) queue.NewJob {
	return IngestPayload{AccountID: r.AccountID, MessageID: providerID, Gap: r.HistoryID}.job(priorityBackfill)
}

// LastReconciliation returns the last reconciliation of an account, or [postroom.ErrNotFound] if there was none.
func LastReconciliation(ctx context.Context, store *mailstore.Store, accountID string) (Reconciliation, error) {
	run, err := reconciliations{store.DB()}.run(ctx, store.DB().Reader(), accountID)
	return run.report(), err
}

func (s reconciliations) run(ctx context.Context, q dbquery.Querier, accountID string) (reconcileRun, error) {
	var row runRow
	if err := maildb.Get(ctx, q, &row, "reconciliation of account "+accountID, sqlRun, accountID); err != nil {
		return reconcileRun{}, err
	}
	run := reconcileRun{
		row.AccountID, row.Run, row.Seq, row.Cause, row.Phase, uint64(row.HistoryID), uint64(row.Since), nil,
		row.Page, row.Listed,
		row.Added, row.Relabelled, row.Deleted, row.Restored, row.StartedAt, row.FinishedAt,
	}
	if err := json.Unmarshal(row.Lists, &run.Lists); err != nil {
		return run, fmt.Errorf("gmail: reconciliation of account %s as stored: %w", accountID, err)
	}
	return run, nil
}

// A newRun has the values that begin a run.
type newRun struct {
	cause            ReconcileCause
	historyID, since uint64
}

// startRun begins a run. Steps of an earlier one are overtaken. For a check that finds another run under way the
// error is [postroom.ErrNotFound].
func (s reconciliations) startRun(ctx context.Context, tx queue.Tx, accountID string, n newRun) (reconcileRun, error) {
	run := reconcileRun{AccountID: accountID, Cause: n.cause, Phase: phaseList, HistoryID: n.historyID, Since: n.since}
	now := dbtime.Of(queue.Now(tx))
	var row struct {
		Run int64 `db:"run"`
		Seq int64 `db:"seq"`
	}
	err := maildb.Get(ctx, tx, &row, "reconciliation of account "+accountID, sqlStartRun,
		accountID, string(n.cause), string(phaseList), int64(n.historyID), int64(n.since), now, now)
	run.Run, run.Seq = row.Run, row.Seq
	if err != nil {
		return run, err
	}
	_, err = maildb.Exec(ctx, tx, "reconciliation of account "+accountID, sqlDropSuspects, accountID)
	return run, err
}

var errRunOvertaken = errors.New("gmail: another run or job of the account's reconciliation has gone on")

// lockRun locks the run until the transaction ends. A run that is not at the step is errRunOvertaken.
func (s reconciliations) lockRun(ctx context.Context, tx queue.Tx, accountID string, seq int64) error {
	changed, err := maildb.Exec(ctx, tx, "reconciliation of account "+accountID, sqlLockRun, accountID, seq)
	if err == nil && changed == 0 {
		err = errRunOvertaken
	}
	return err
}

// saveRun stores a run that is locked.
func (s reconciliations) saveRun(ctx context.Context, tx queue.Tx, r *reconcileRun) error {
	lists, err := maildb.JSON(r.Lists)
	if err != nil {
		return err
	}
	now := dbtime.Of(queue.Now(tx))
	if r.Phase == phaseDone {
		r.FinishedAt = now
	}
	return maildb.MustExec(ctx, tx, "reconciliation of account "+r.AccountID, sqlSaveRun,
		r.Seq, string(r.Phase), lists, r.Page, r.Listed, r.Added, r.Relabelled, r.Deleted, r.Restored, now,
		r.FinishedAt, r.AccountID)
}

// saveListed notes that the messages were listed, with a label or in the list of all.
func (s reconciliations) saveListed(ctx context.Context, tx queue.Tx, r *reconcileRun, label string,
	ids []string) error {
	for chunk := range slices.Chunk(maildb.Unique(ids), maildb.Bulk) {
		args := make([]any, 0, 5*len(chunk))
		for _, id := range chunk {
			args = append(args, r.AccountID, id, r.Run, label, label)
		}
		if _, err := maildb.Exec(ctx, tx, "list messages", sqlSaveListed+maildb.Values(len(chunk), 5)+sqlSaveListedAgain,
			args...); err != nil {
			return err
		}
	}
	return nil
}

// A listedMessage is a message of Gmail's list that is not stored.
type listedMessage struct {
	ProviderID string `db:"provider_message_id"`
	Labels     string `db:"labels"` // those of the lists so far
}

func (m listedMessage) hidden() bool {
	labels := strings.Fields(m.Labels)
	return slices.Contains(labels, postroom.LabelSpam) || slices.Contains(labels, postroom.LabelTrash)
}

// unknown returns the listed messages that are not stored, not even as broken.
func (s reconciliations) unknown(ctx context.Context, tx queue.Tx, r *reconcileRun,
	ids []string) (all []listedMessage, err error) {
	for chunk := range slices.Chunk(ids, maildb.Bulk) {
		var rows []listedMessage
		args := []any{r.AccountID, r.Run}
		for _, id := range chunk {
			args = append(args, id)
		}
		query := sqlUnknown + maildb.Places(3, len(chunk))
		if err := dbquery.Select(ctx, tx, &rows, query, args...); err != nil {
			return nil, fmt.Errorf("gmail: messages that are not stored: %w", err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// A comparedRow is a stored message as it was listed and as it is stored.
type comparedRow struct {
	ProviderID string          `db:"provider_message_id"`
	Listed     string          `db:"labels"`
	Stored     maildb.JSONText `db:"labels_json"`
	DeletedAt  dbtime.Time     `db:"deleted_at"`
}

func (r comparedRow) differs() (bool, error) {
	var labels []string
	if err := json.Unmarshal(r.Stored, &labels); err != nil {
		return false, fmt.Errorf("gmail: labels of message %s: %w", r.ProviderID, err)
	}
	same := slices.Equal(postroom.NewSnapshot(labels).LabelIDs, postroom.NewSnapshot(strings.Fields(r.Listed)).LabelIDs)
	return !same || !r.DeletedAt.IsZero(), nil
}

// compared returns the messages that were listed and are stored, after the run's page.
func (s reconciliations) compared(ctx context.Context, tx queue.Tx, r *reconcileRun) (rows []comparedRow, err error) {
	err = dbquery.Select(ctx, tx, &rows, sqlCompared, r.AccountID, r.Run, r.Page, comparePage)
	if err != nil {
		err = fmt.Errorf("gmail: compare messages: %w", err)
	}
	return rows, err
}

// An unlistedRow is a stored message that is not deleted.
type unlistedRow struct {
	ProviderID string `db:"provider_message_id"`
	HistoryID  int64  `db:"history_id"`
	Listed     bool   `db:"listed"`
}

// unlisted returns the stored messages, the broken ones included, after the run's page, and whether they were listed.
func (s reconciliations) unlisted(ctx context.Context, tx queue.Tx, r *reconcileRun) (rows []unlistedRow, err error) {
	err = dbquery.Select(ctx, tx, &rows, sqlUnlisted, r.Run, r.AccountID, r.Page, comparePage, r.AccountID, r.Page,
		comparePage, comparePage)
	if err != nil {
		err = fmt.Errorf("gmail: messages that were not listed: %w", err)
	}
	return rows, err
}

func (s reconciliations) saveSuspects(ctx context.Context, tx queue.Tx, accountID string, ids []string) error {
	for chunk := range slices.Chunk(maildb.Unique(ids), maildb.Bulk) {
		args := make([]any, 0, 2*len(chunk))
		for _, id := range chunk {
			args = append(args, accountID, id)
		}
		_, err := maildb.Exec(ctx, tx, "note messages", sqlSaveSuspects+maildb.Values(len(chunk), 2)+
			"\nON CONFLICT DO NOTHING", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s reconciliations) suspects(ctx context.Context, accountID string) (ids []string, err error) {
	if err = dbquery.Select(ctx, s.db.Reader(), &ids, sqlSuspects, accountID, verifyPage); err != nil {
		err = fmt.Errorf("gmail: messages to verify: %w", err)
	}
	return ids, err
}

func (s reconciliations) dropSuspect(ctx context.Context, tx queue.Tx, accountID, providerID string) error {
	_, err := maildb.Exec(ctx, tx, "message "+providerID, sqlDropSuspect, accountID, providerID)
	return err
}

// cleanListed removes some of the listed ids of a run; left reports whether there may be more.
func (s reconciliations) cleanListed(ctx context.Context, tx queue.Tx, accountID string) (left bool, err error) {
	n, err := maildb.Exec(ctx, tx, "clean up", sqlCleanListed, accountID, accountID, cleanPage)
	return n == cleanPage, err
}
