package safety

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A row that was put back as it was once is found by the entries about what happened to it since, which may have been removed, or
// altered, as well: so the log must be whole from the last change of the action on. What a person has approved, or cannot be taken
// back, is worth reading as much: what was logged since, which is little unless the action had to wait.

// errBroken ends the reading of a chain that is not whole.
var errBroken = errors.New("the log is not whole")

const (
	firstPage  = 20 // usually enough
	recentPage = 1000
	// recentSkew is how far the clocks of two machines may be apart, which write to different chains.
	recentSkew = time.Minute
)

// needsLog reports whether an action is started, or gone on with, only if the log is whole.
func (l *Ledger) needsLog(p *permitRow) bool {
	kind, ok := l.cfg.Kinds.Kind(p.Type)
	return p.ApprovalID != "" || !ok || kind.Danger == postroom.Dangerous
}

// A recentReader reads the log back to the last change of an action.
type recentReader struct {
	l  *Ledger
	tx queue.Tx
	p  *permitRow

	found bool // the last entry about the action
}

// whole reports whether nothing was altered in the log, or removed from it, since the action was last written.
func (l *Ledger) whole(ctx context.Context, tx queue.Tx, p *permitRow) (bool, error) {
	var lanes []laneRow
	err := dbquery.Select(ctx, tx, &lanes, selectLanes)
	r := recentReader{l: l, tx: tx, p: p}
	for i := 0; i < len(lanes) && err == nil; i++ {
		if lanes[i].Entries > 0 {
			err = r.lane(ctx, &lanes[i])
		}
	}
	switch {
	case errors.Is(err, errBroken):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("safety: start action %s: read the log: %w", p.ID, err)
	}
	return r.found, nil
}

// lane reads a chain from its end to what is older than the last change of the action.
func (r *recentReader) lane(ctx context.Context, lane *laneRow) error {
	if r.l.keys.checkAt(lane.Lane, lane.Entries, lane.Seal, lane.sealedParts()) != signedRight {
		return errBroken
	}
	var after *AuditEntry // the entry after the one that is read, whose signature is over both
	for size, end := firstPage, lane.Entries; end > 0; size = recentPage {
		var page []AuditEntry
		if err := dbquery.Select(ctx, r.tx, &page, selectEntriesBack, lane.Lane, end, size); err != nil {
			return err
		}
		for i := range page {
			e := &page[i]
			if after == nil && e.MAC != lane.MAC || e.Entry != end || !r.follows(after, e.MAC) {
				return errBroken
			}
			if after != nil && r.reached(after) {
				return nil
			}
			after, end = e, end-1
		}
		if len(page) == 0 {
			return errBroken
		}
	}
	if !r.follows(after, "") {
		return errBroken
	}
	r.reached(after)
	return nil
}

// follows reports whether the entry is signed as the one after another.
func (r *recentReader) follows(e *AuditEntry, before string) bool {
	return e == nil || r.l.keys.checkEntry(e, before) == signedRight
}

// reached looks at an entry whose signature is right, and reports whether those before it are of no interest.
func (r *recentReader) reached(e *AuditEntry) bool {
	if e.Kind != auditAction || e.Subject != r.p.ID {
		return e.At.Before(r.p.UpdatedAt.Add(-recentSkew))
	}
	r.found = r.found || e.Lane == r.p.Last.lane && e.Entry == r.p.Last.entry
	return e.Rev <= r.p.Rev
}
