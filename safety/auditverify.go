package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// An Audit is the result of [Ledger.VerifyAudit].
type Audit struct {
	Entries int64 // of the audit log
	Rows    int64 // of the ledger that were compared with the audit log
	// Before is the number of rows from before there was an audit log. They are not verified.
	Before int64
	// OtherKey is the number of entries and rows that are signed with a key that the ledger does not have. They are not verified.
	OtherKey int64
	// Heads are the ends of the chains. Keep them where nobody who can write to this database can write.
	Heads []AuditHead
	// Faults lists the mismatches, at most 1000; it is empty if there are none.
	Faults []AuditFault
}

// An AuditFault is one mismatch.
type AuditFault struct {
	Kind    string `json:"kind"`    // entry, head, switch, or the kind of an entry; see [AuditEntry]
	Subject string `json:"subject"` // the id of the row, or the position in the audit log
	What    string `json:"what"`    // for people
}

const (
	maxAuditFaults = 1000
	auditPage      = 2000
)

// A version is the state of a row according to the audit log.
type version struct {
	lane   int
	entry  int64
	seen   int64 // of the entry
	rev    int
	digest string
	states []byte // of an action, by rev: the index of the state; 0 for a missing rev
}

// A verifier compares the ledger with its audit log.
type verifier struct {
	l      *Ledger
	tx     dbquery.Querier
	audit  Audit
	known  []AuditHead
	latest map[[2]string]version // by kind and id
	began  time.Time             // the first entry
	linked time.Time             // the first entry about a link
	seen   int64                 // the least number of entries there were

	switched   *eventRow // the last stop or resumption
	switchedAt int64     // the seen of its entry: a clock may be set back

	ruleLog ruleLog
}

// VerifyAudit compares the whole ledger with its audit log. It finds rows that were altered, removed, added or put back, and
// entries that were altered or removed, including from the end. It finds that the whole database was put back only if heads has a
// later end of a chain, from an earlier [Audit] that was kept elsewhere, or the ledger remembers one; see [Ledger.Remember].
//
// It also finds rows that were altered and then changed by the ledger, whose last entry agrees with the row: an action must match
// its decision, whose entry must be the only one; its states must follow each other; and the ledger logs an alteration that it
// finds when it ends or refuses an action. An entry under an unknown key is a fault, unless all entries before it are under
// unknown keys. An entry under an old key is a fault if it is later than the first entry of the new key. The audit log does not
// record whose turn it is at a message, only whose turn it was.
//
// VerifyAudit reads everything in one state of the database.
func (l *Ledger) VerifyAudit(ctx context.Context, heads []AuditHead) (Audit, error) {
	v := verifier{l: l, known: slices.Clone(heads), latest: map[[2]string]version{}}
	err := l.snapshot(ctx, func(tx *snapshot) error {
		if tx.unknown != nil {
			return tx.unknown
		}
		v.tx, v.known = tx, slices.Concat(v.known, tx.ends)
		if err := l.keys.load(ctx, tx); err != nil {
			return err
		}
		return v.run(ctx)
	})
	if err != nil {
		return v.audit, fmt.Errorf("safety: verify the log: %w", err)
	}
	return v.audit, nil
}

// EachAuditEntry calls fn for the entries of the audit log, chain by chain, and returns the ends of the chains. It reads one
// state of the database, and stops at the first error of fn.
func (l *Ledger) EachAuditEntry(ctx context.Context, fn func(AuditEntry) error) (heads []AuditHead, err error) {
	err = l.snapshot(ctx, func(tx *snapshot) error {
		var lanes []laneRow
		if err := dbquery.Select(ctx, tx, &lanes, selectLanes); err != nil {
			return err
		}
		for _, lane := range lanes {
			if err := eachEntry(ctx, tx, lane.Lane, fn); err != nil {
				return err
			}
			if lane.Entries > 0 {
				heads = append(heads, lane.AuditHead)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("safety: read the log: %w", err)
	}
	return heads, nil
}

func eachEntry(ctx context.Context, tx dbquery.Querier, lane int, fn func(AuditEntry) error) error {
	for last := int64(0); ; {
		var page []AuditEntry
		if err := dbquery.Select(ctx, tx, &page, selectEntries, lane, last, auditPage); err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
		}
		last = page[len(page)-1].Entry
	}
}

func (v *verifier) faultf(kind, subject, format string, args ...any) {
	if len(v.audit.Faults) < maxAuditFaults {
		v.audit.Faults = append(v.audit.Faults, AuditFault{kind, subject, fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.lanes(ctx); err != nil {
		return err
	}
	if err := errors.Join(
		eachRow(ctx, v, selectDecisions, func(r *decisionRow) { v.row(auditDecision, r.ID, 1, r.CreatedAt, r.parts()) }, func(r *decisionRow) string { return r.ID }),
		eachRow(ctx, v, selectActions, v.action, func(r *actionRow) string { return r.ID }),
		eachRow(ctx, v, selectRequests, func(r *approvalRow) { v.row(auditApproval, r.ID, r.Rev, r.RequestedAt, r.parts()) }, func(r *approvalRow) string { return r.ID }),
		eachRow(ctx, v, selectReports, func(r *reportRow) { v.row(auditReport, r.ID, r.Rev, r.CreatedAt, r.parts()) }, func(r *reportRow) string { return r.ID }),
		eachRow(ctx, v, selectIncoherent, v.incoherent, func(r *incoherentRow) string { return r.ID }),
		eachRow(ctx, v, selectLinks, v.link, func(r *linkRow) string { return r.Cause }),
		eachRow(ctx, v, selectAllBreakers, func(r *breakerRow) { v.row(auditBreaker, r.subject(), r.BreakerRev, r.OpenedAt, r.columns()) }, (*breakerRow).subject),
		eachRow(ctx, v, selectAllEvents, v.event, func(r *eventRow) string { return r.ID }),
	); err != nil {
		return err
	}
	for key := range v.latest {
		v.faultf(key[0], key[1], "the log has the row, and it is gone")
	}
	if err := v.rules(ctx); err != nil {
		return err
	}
	return v.switchRow(ctx)
}

func (v *verifier) lanes(ctx context.Context) error {
	var lanes []laneRow
	if err := dbquery.Select(ctx, v.tx, &lanes, selectLanes); err != nil {
		return err
	}
	for i := range lanes {
		if err := v.lane(ctx, &lanes[i]); err != nil {
			return err
		}
	}
	var entries int64
	if err := dbquery.Get(ctx, v.tx, &entries, countEntries); err != nil {
		return err
	}
	if entries != v.audit.Entries {
		v.faultf("head", "all", "%d entries belong to chains whose ends are gone", entries-v.audit.Entries)
	}
	if v.seen > v.audit.Entries {
		v.faultf("head", "all", "there were %d entries, and there are %d: the end of a chain was removed", v.seen, v.audit.Entries)
	}
	slices.SortFunc(v.known, func(a, b AuditHead) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Entries, b.Entries))
	})
	for _, h := range slices.Compact(v.known) {
		v.faultf("head", h.String(), "the log does not reach to this end, which it had once")
	}
	return nil
}

func (v *verifier) lane(ctx context.Context, lane *laneRow) error {
	before, n, known := "", int64(0), false
	err := eachEntry(ctx, v.tx, lane.Lane, func(e AuditEntry) error {
		where := fmt.Sprintf("%d:%d", e.Lane, e.Entry)
		switch v.l.keys.checkEntry(&e, before) {
		case signedRight:
			known = true
		case signedByAnotherKey:
			if known {
				v.faultf("entry", where, "it is signed with a key that is not known, and those before it are not")
			}
			v.audit.OtherKey++
		case signedWrong:
			if e.Entry != n+1 {
				v.faultf("entry", where, "the entries before it are gone, from %d on", n+1)
			} else {
				v.faultf("entry", where, "it was altered")
			}
		}
		before, n = e.MAC, e.Entry
		v.entry(&e)
		return nil
	})
	if err != nil {
		return err
	}
	where := strconv.Itoa(lane.Lane)
	switch fits := v.l.keys.checkAt(lane.Lane, lane.Entries, lane.Seal, lane.sealedParts()); {
	case lane.Entries == 0 && lane.Seal == "" && n == 0: // it was never used
	case lane.Entries != n || lane.MAC != before:
		v.faultf("head", where, "the chain had %d entries, and ends at %d: its end was removed or replaced", lane.Entries, n)
	case fits == signedWrong:
		v.faultf("head", where, "it was altered: entries at the end may be gone")
	case fits == signedByAnotherKey && known:
		v.faultf("head", where, "it is signed with a key that is not known, and the entries are not")
	case fits == signedByAnotherKey:
		v.audit.OtherKey++
	}
	if n > 0 {
		v.audit.Heads = append(v.audit.Heads, AuditHead{lane.Lane, n, before})
	}
	return nil
}

// entry notes the state that an entry records of a row.
func (v *verifier) entry(e *AuditEntry) {
	v.audit.Entries++
	v.seen = max(v.seen, e.Seen)
	if v.began.IsZero() || e.At.Before(v.began) {
		v.began = e.At.Time
	}
	v.known = slices.DeleteFunc(v.known, func(h AuditHead) bool { return h == AuditHead{e.Lane, e.Entry, e.MAC} })
	switch {
	case e.Kind == auditFault:
		v.faultf(auditFault, e.Subject, "it had been altered when it came to %s it, on %s", e.Note, e.At.Format(time.RFC3339))
		return
	case e.Kind == auditKey, e.Kind == auditUndo: // it is about no row
		return
	case e.Kind == auditLink && (v.linked.IsZero() || e.At.Before(v.linked)):
		v.linked = e.At.Time
	}
	if aboutRule(e.Kind) {
		v.ruleLog.add(e)
		return
	}
	key := [2]string{e.Kind, e.Subject}
	has, ok := v.latest[key]
	if !ok || has.rev < e.Rev {
		has.lane, has.entry, has.seen, has.rev, has.digest = e.Lane, e.Entry, e.Seen, e.Rev, e.Digest
	}
	if e.Kind == auditAction {
		has.follow(e.Rev, postroom.ActionState(e.Note))
	}
	v.latest[key] = has
}

// eachRow calls fn for all rows of a table, in the order of their ids.
func eachRow[R any](ctx context.Context, v *verifier, query string, fn func(*R), id func(*R) string) error {
	for last := ""; ; {
		var page []R
		if err := dbquery.Select(ctx, v.tx, &page, query, last, auditPage); err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			fn(&page[i])
		}
		last = id(&page[len(page)-1])
	}
}

// action is row for an action, whose digest has one of two versions.
func (v *verifier) action(r *actionRow) {
	key := [2]string{auditAction, r.ID}
	last, ok := v.latest[key]
	parts := r.parts()
	if ok {
		last.digest, parts = r.signedAs(last.digest)
		v.latest[key] = last
	}
	v.row(auditAction, r.ID, r.Rev, r.CreatedAt, parts)
}

// row compares a row with its last entry.
func (v *verifier) row(kind, id string, rev int, created dbtime.Time, parts []string) {
	key := [2]string{kind, id}
	last, ok := v.latest[key]
	if !ok {
		counts := kind == auditAction || kind == auditApproval
		later := kind == auditBreaker || kind == auditReport // these kinds were added to the audit log later than the others
		if kind == auditLink && (v.linked.IsZero() || created.Before(v.linked)) {
			rev, later = 0, true
		}
		if later && rev == 0 || !later && (v.began.IsZero() || created.Before(v.began)) && (rev == 0 || !counts) {
			v.audit.Before++
			return
		}
		v.faultf(kind, id, "the log does not have the row: it was added by something else")
		return
	}
	delete(v.latest, key)
	v.audit.Rows++
	if kind == auditAction {
		v.states(id, last.states)
	}
	switch v.l.keys.checkAt(last.lane, last.entry, last.digest, append([]string{kind}, parts...)) {
	case signedRight:
	case signedByAnotherKey:
		v.audit.OtherKey++
	case signedWrong:
		if rev != last.rev {
			v.faultf(kind, id, "it is at revision %d, and the log at %d: the row was put back, or altered", rev, last.rev)
			return
		}
		v.faultf(kind, id, "the row was altered")
	}
}

func (v *verifier) event(r *eventRow) {
	at := v.latest[[2]string{auditEvent, r.ID}].seen
	v.row(auditEvent, r.ID, 1, r.At, r.parts())
	if (r.Kind == EventStopped || r.Kind == EventResumed) && (v.switched == nil || at >= v.switchedAt) {
		v.switched, v.switchedAt = r, at
	}
}

// switchRow compares the switch with the last event about it.
func (v *verifier) switchRow(ctx context.Context) error {
	var row switchRow
	err := dbquery.Get(ctx, v.tx, &row, selectSwitch)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	stopped := v.switched != nil && v.switched.Kind == EventStopped
	if (row.Stopped != 0) != stopped || v.switched != nil && row.By != v.switched.By {
		v.faultf("switch", "1", "it is not as the last event left it")
	}
	return nil
}
