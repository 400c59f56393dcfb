package safety

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// The log has an entry for each row of the ledger that is written, in the transaction that writes it: an HMAC over the row as it is
// then (the digest), and one over the entry and the entry before it. The end of a chain is sealed with the number of its entries.
// What alters, removes or puts back a row, or an entry, has no key to make the log say so.
//
// The entries form chains, of which a transaction takes one that no other holds: parallel transactions neither wait nor deadlock,
// whatever else they lock. Each entry says how many entries there were in all when it was made, so that no chain can lose its end
// when another goes on. The order of the entries about one row is that of their rev, which the row counts.

// The kinds of entries.
const (
	auditDecision = "decision"
	auditAction   = "action"
	auditApproval = "approval"
	auditEvent    = "event"
	auditBreaker  = "breaker"
	auditReport   = "report"
	auditLink     = "link"  // an undo and what it undoes; rev is 2 when it is void
	auditFault    = "fault" // an action that was found to be altered
	auditKey      = "key"   // a key that takes the place of another
)

// An AuditEntry is one entry of the log.
type AuditEntry struct {
	Lane    int    `db:"lane"       json:"lane"`  // the chain
	Entry   int64  `db:"entry"      json:"entry"` // its number in the chain, from 1
	Seen    int64  `db:"seen"       json:"seen"`  // how many entries there were in all chains, this one included
	Account string `db:"account_id" json:"account_id,omitempty"`
	Kind    string `db:"kind"       json:"kind"`           // decision, action, approval, event, breaker, report, link, fault, key, undo, rule, rules_version, direction, llm_rule or adoption
	Subject string `db:"subject_id" json:"subject_id"`     // the id of the row
	Rev     int    `db:"rev"        json:"rev"`            // how often the row had been written then
	Note    string `db:"note"       json:"note,omitempty"` // the state of an action, the outcome of a request, the kind of an event, what an undo undoes and who requests it, the ends that the chains had
	Digest  string `db:"digest"     json:"digest"`         // the signature over the row
	MAC     string `db:"mac"        json:"mac"`            // the signature over the entry and the one before

	At dbtime.Time `db:"created_at" json:"at"`

	kept bool // it must be known to the programs that follow
}

// signedParts are what the MAC is over.
func (e *AuditEntry) signedParts(before string) []string {
	return []string{
		"entry of the log", before, strconv.Itoa(e.Lane), strconv.FormatInt(e.Entry, 10), strconv.FormatInt(e.Seen, 10), e.Account, e.Kind,
		e.Subject, strconv.Itoa(e.Rev), e.Note, e.Digest, dbtime.Format(e.At.Time),
	}
}

// An AuditHead is the end of a chain: how many entries it has, and the signature over the last. Kept elsewhere, it shows later that
// the log up to there is still the same.
type AuditHead struct {
	Lane    int    `db:"lane"    json:"lane"`
	Entries int64  `db:"entries" json:"entries"`
	MAC     string `db:"mac"     json:"mac"`
}

// String is the head as [ParseAuditHead] reads it.
func (h AuditHead) String() string { return fmt.Sprintf("%d:%d:%s", h.Lane, h.Entries, h.MAC) }

// ParseAuditHead parses what String has written.
func ParseAuditHead(s string) (h AuditHead, err error) {
	lane, rest, _ := strings.Cut(s, ":")
	entries, mac, _ := strings.Cut(rest, ":")
	var badLane, badEntries error
	h.Lane, badLane = strconv.Atoi(lane)
	h.Entries, badEntries = strconv.ParseInt(entries, 10, 64)
	h.MAC = mac
	if badLane != nil || badEntries != nil || h.Entries < 1 || mac == "" {
		return h, fmt.Errorf("safety: %q is no head of the log; give one as it was printed, such as 1:345:0f3a…", s)
	}
	return h, nil
}

type laneRow struct {
	AuditHead
	Seal string `db:"seal"`
	Seen int64  `db:"seen"` // the entries of all chains

	Last   lastEntry `db:"last"` // the entry at the end, with its MAC for the digest
	broken bool      // the end was altered: what is added stays without a seal
}

// entriesOf returns how many entries the chains have in all.
func entriesOf(lanes []laneRow) (entries int64) {
	for i := range lanes {
		entries += lanes[i].Entries
	}
	return entries
}

func (r *laneRow) sealedParts() []string {
	return []string{"end of the log", strconv.Itoa(r.Lane), strconv.FormatInt(r.Entries, 10), r.MAC}
}

func (l *Ledger) onPostgres() bool { return string(l.cfg.DB.Dialect()) == "postgres" }

// entry makes the entry about a row.
func (l *Ledger) entry(kind, account, subject string, rev int, note string, row []string) AuditEntry {
	return AuditEntry{
		Account: account, Kind: kind, Subject: subject, Rev: rev, Note: note, Digest: l.keys.sign(append([]string{kind}, row...)),
	}
}

// actionVersion begins the digest of an action that is over all of its row; before, it was not over the turn, the seal and what is undone.
const actionVersion = "2."

func (l *Ledger) entryOfAction(r *actionRow) AuditEntry {
	e := l.entry(auditAction, r.AccountID, r.ID, r.Rev, string(r.State), r.parts())
	e.Digest = actionVersion + e.Digest
	e.kept = l.gate.kinds.Danger(r.Type) == postroom.Dangerous
	return e
}

// logAction adds the entry about a change of an action. One about a row that was altered has no digest, and so vouches for nothing.
func (l *Ledger) logAction(ctx context.Context, tx queue.Tx, r *actionRow, altered bool) error {
	if err := l.keys.load(ctx, tx); err != nil {
		return err
	}
	e := l.entryOfAction(r)
	if altered {
		e.Digest = ""
	}
	return l.log(ctx, tx, e)
}

// signedAs returns the signature of a digest, and what it is over.
func (r *actionRow) signedAs(digest string) (signature string, parts []string) {
	if strings.HasPrefix(digest, actionVersion) {
		return signatureOf(digest), r.parts()
	}
	return digest, r.partsOnce()
}

// signatureOf is a digest without its version.
func signatureOf(digest string) string { return strings.TrimPrefix(digest, actionVersion) }

// logApproval adds the entry about a request, which has the account of its action.
func (l *Ledger) logApproval(ctx context.Context, tx queue.Tx, r *approvalRow) error {
	e := l.entry(auditApproval, "", r.ID, r.Rev, string(r.Outcome), r.parts())
	e.kept = r.Outcome != OutcomeWaiting
	return l.log(ctx, tx, e)
}

// maxParts is the room for the parts of an action or a decision.
const maxParts = 24

// parts are the columns of the row, and what it undoes.
func (r *actionRow) parts() []string {
	turn := ""
	if r.Turn.Valid {
		turn = strconv.FormatInt(r.Turn.Int64, 10)
	}
	return append(r.partsOnce(), "turn", turn, r.Seal.String, r.Undoes)
}

// partsOnce are what the digests of the first version are over.
func (r *actionRow) partsOnce() []string {
	parts := append(make([]string, 0, maxParts),
		r.ID, r.AccountID, r.MessageID, r.DecisionID, string(r.Type), r.Parameters, string(r.State), r.Error, strconv.FormatBool(r.UndoHint.Valid),
		r.UndoHint.String, r.JobID, r.Content, stamp(r.CreatedAt), stamp(r.UpdatedAt), stamp(r.ExecutedAt), strconv.Itoa(r.Rev),
	)
	return withProvider(parts, r.ProviderID)
}

// withProvider adds the provider's id of the message to what is signed. Rows from before there was one are signed without.
func withProvider(parts []string, id string) []string {
	if id == "" {
		return parts
	}
	return append(parts, id)
}

func (r *decisionRow) parts() []string {
	known := ""
	if r.Confidence.Valid {
		known = strconv.FormatFloat(r.Confidence.Float64, 'g', -1, 64)
	}
	parts := append(make([]string, 0, maxParts),
		r.ID, r.AccountID, r.MessageID, r.Key, string(r.Source), string(r.Action), r.Parameters, known, strconv.FormatBool(r.NeedsApproval), r.Rationale, r.RuleID, r.RuleName,
		r.RuleVersion, string(r.SafeMode), r.Model, r.Explanations, r.Telemetry, r.Sender, r.Subject, stamp(r.CreatedAt),
	)
	return withProvider(parts, r.ProviderID)
}

func (r *approvalRow) parts() []string {
	return []string{
		r.ID, r.ActionID, r.Reasons, r.Digest, stamp(r.RequestedAt), stamp(r.ExpiresAt), stamp(r.DecidedAt), string(r.Outcome), r.Approver, r.Why,
		strconv.Itoa(r.Rev),
	}
}

func (r *eventRow) parts() []string {
	return []string{r.ID, string(r.Kind), r.AccountID, string(r.Source), r.By, r.Why, stamp(r.At)}
}

// A reportRow is the report about the execution of an action.
type reportRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	Report    string      `db:"report_json"`
	Rev       int         `db:"report_rev"`
	CreatedAt dbtime.Time `db:"created_at"` // of the action
}

func (r *reportRow) parts() []string {
	return []string{r.ID, r.AccountID, r.Report, strconv.Itoa(r.Rev)}
}

func (l *Ledger) logReport(ctx context.Context, tx queue.Tx, r *reportRow) error {
	if err := l.keys.load(ctx, tx); err != nil {
		return err
	}
	return l.log(ctx, tx, l.entry(auditReport, r.AccountID, r.ID, r.Rev, "", r.parts()))
}

func (r *breakerRow) subject() string { return r.BreaksAccount + " " + string(r.Breaks) }

func (r *breakerRow) columns() []string {
	return []string{
		r.BreaksAccount, string(r.Breaks), r.BrokenBy, stamp(r.OpenedAt), stamp(r.OpenUntil), stamp(r.ClosedAt), strconv.Itoa(r.BreakerRev),
	}
}

func (l *Ledger) logBreaker(ctx context.Context, tx queue.Tx, r *breakerRow) error {
	if err := l.keys.load(ctx, tx); err != nil {
		return err
	}
	note := "open"
	if !r.ClosedAt.IsZero() {
		note = "closed"
	}
	return l.log(ctx, tx, l.entry(auditBreaker, r.BreaksAccount, r.subject(), r.BreakerRev, note, r.columns()))
}

// stamp is a time as it is stored; empty for none.
func stamp(t dbtime.Time) string {
	if t.IsZero() {
		return ""
	}
	return dbtime.Format(t.Time)
}
