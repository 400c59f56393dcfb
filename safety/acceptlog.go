package safety

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// AcceptLog accepts the log as it is where it is shorter than it was ([ErrLogCut]): somebody has put the database back to what it was
// once, and stands by it. by names the person, and must not be blank. The log does not tell what has happened after its end. So what a
// person had approved before and what cannot be taken back waits for a person again, requests that wait must be asked again
// ([Ledger.Renew]), and what had begun has failed. What people had rejected after its end is forgotten: it is again as it was before.
//
// AcceptLog applies to this ledger and to all that share its [Config].SeenFile. tx must be a transaction of the queue's own, not
// one that the host has begun.
func (l *Ledger) AcceptLog(ctx context.Context, tx queue.Tx, by, why string) error {
	if !isOwn(tx) { // what is to be done when it is committed comes last
		return errors.New("safety: accept the log: the transaction is not one of the queue's own, whose end is known: use Queue.Write")
	}
	if strings.TrimSpace(by) == "" {
		return errors.New("safety: accept the log: the name of who does it is blank, and it goes on record")
	}
	if err := l.lockEnds(ctx, tx); err != nil {
		return err
	}
	if err := l.event(ctx, tx, Event{Kind: EventLogAccepted, By: dbvalue.Clean(by), Why: dbvalue.Clean(why)}); err != nil {
		return err
	}
	if err := l.mendEnds(ctx, tx); err != nil {
		return err
	}
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	var lanes []laneRow
	if err := dbquery.Select(ctx, tx, &lanes, selectLanes); err != nil {
		return fmt.Errorf("safety: accept the log: %w", err)
	}
	a := acceptance{id: id, entries: entriesOf(lanes)}
	queue.OnCommit(tx, func() {
		l.seen.accept(a)
		for i := range lanes {
			l.seen.reach(lanes[i].AuditHead)
		}
		_ = l.seen.keep() // Remember says why it fails
	})
	return nil
}

// lockEnds keeps others from adding to the audit log.
func (l *Ledger) lockEnds(ctx context.Context, tx queue.Tx) error {
	if !l.onPostgres() {
		return nil
	}
	if _, err := tx.ExecContext(ctx, lockEnds); err != nil {
		return fmt.Errorf("safety: accept the log: %w", err)
	}
	return nil
}

// mendEnds signs the ends of chains whose rows do not match their last entry.
func (l *Ledger) mendEnds(ctx context.Context, tx queue.Tx) error {
	var lanes []laneRow
	if err := dbquery.Select(ctx, tx, &lanes, selectLanes); err != nil {
		return fmt.Errorf("safety: accept the log: %w", err)
	}
	for i := range lanes {
		r := &lanes[i]
		var page []AuditEntry
		if err := dbquery.Select(ctx, tx, &page, selectEntriesBack, r.Lane, int64(1)<<62, 1); err != nil {
			return fmt.Errorf("safety: accept the log: %w", err)
		}
		end := AuditHead{Lane: r.Lane}
		if len(page) > 0 {
			end.Entries, end.MAC = page[0].Entry, page[0].MAC
		}
		if r.AuditHead == end && l.sealed(r) != signedWrong {
			continue
		}
		r.AuditHead, r.Seal = end, ""
		if r.Entries > 0 {
			r.Seal = l.keys.sign(r.sealedParts())
		}
		if _, err := tx.ExecContext(ctx, endLane, r.Entries, r.MAC, r.Seal, r.Lane); err != nil {
			return fmt.Errorf("safety: accept the log: %w", err)
		}
	}
	return nil
}
