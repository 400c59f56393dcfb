package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A job that undoes something is a row, which anybody can insert who writes to the database. So the log says who has requested the
// undo, in the transaction that enqueues the job, and the job completes one undo for each request.

// auditUndo is the kind of the entries about requests of undos. The subject is the job. The note is the
// action to undo and who has requested it, or that the job has done it.
const (
	auditUndo  = "undo"
	undoneMark = "done"
)

// ErrNotRequested reports that a job was to undo an action, and that nobody has requested it, or that the job has undone it before.
var ErrNotRequested = errors.New("nobody has requested the undo, or it was done before: request it")

// An undoRequest is the last entry about the undo of a job; the zero one if there is none.
type undoRequest struct {
	AuditEntry
	original string // the action, or undoneMark
	open     bool   // the job may undo it
}

// RequestUndo puts it on record that the job is to undo the action, and who has requested it, which may be empty. It belongs to the
// transaction that enqueues the job; [Ledger.StartUndo] undoes nothing else. A request that is open stays.
func (l *Ledger) RequestUndo(ctx context.Context, tx queue.Tx, originalID, jobID, by string) error {
	original, err := findAction(ctx, tx, originalID)
	if err != nil {
		return err
	}
	last, err := l.undoRequest(ctx, tx, originalID, jobID)
	if err != nil || last.open {
		return err
	}
	note := original.ID
	if by = dbvalue.Clean(by); by != "" {
		note += " by " + by
	}
	return l.log(ctx, tx, l.entryOfUndo(original.AccountID, jobID, last.Rev+1, note))
}

func (l *Ledger) entryOfUndo(accountID, jobID string, rev int, note string) AuditEntry {
	return l.entry(auditUndo, accountID, jobID, rev, note, undoParts(jobID, rev, note))
}

func undoParts(jobID string, rev int, note string) []string {
	return []string{jobID, strconv.Itoa(rev), note}
}

// endRequest puts it on record that an undo was completed, or canceled: its job does not begin another.
func (l *Ledger) endRequest(ctx context.Context, tx queue.Tx, undo postroom.Action) error {
	last, err := l.undoRequest(ctx, tx, "", undo.JobID)
	if err != nil || last.Rev == 0 || last.original == undoneMark {
		return err
	}
	return l.log(ctx, tx, l.entryOfUndo(undo.AccountID, undo.JobID, last.Rev+1, undoneMark+" by "+undo.ID))
}

// undoRequest reads whether the job may undo the action.
func (l *Ledger) undoRequest(ctx context.Context, tx queue.Tx, originalID, jobID string) (r undoRequest, err error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return r, err
	}
	err = dbquery.Get(ctx, tx, &r.AuditEntry, selectUndoRequest, jobID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, nil
	case err != nil:
		return r, fmt.Errorf("safety: look up who has requested the undo by job %s: %w", jobID, err)
	}
	r.original, _, _ = strings.Cut(r.Note, " ")
	signature := append([]string{auditUndo}, undoParts(jobID, r.Rev, r.Note)...)
	r.open = r.original == originalID && l.keys.checkAt(r.Lane, r.Entry, r.Digest, signature) == signedRight
	return r, nil
}
