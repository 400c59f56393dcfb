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

// Each row of the ledger that is written adds an entry to the audit log, in the same transaction. The entry has an HMAC over the
// row as it is then (the digest), and one over the entry and its predecessor (the MAC). The end of a chain is sealed with the
// number of its entries. Without the key, nobody can alter, remove or put back a row or an entry so that the audit log agrees.
//
// The entries form chains. A transaction takes a chain that no other holds, so parallel transactions neither wait nor deadlock,
// whatever else they lock. Each entry records the number of entries in all chains when it was made, so that a chain cannot lose
// its end unnoticed when another continues. Entries about one row are ordered by their rev, which the row counts.

// The kinds of entries.
const (
	auditDecision = "decision"
	auditAction   = "action"
	auditApproval = "approval"
	auditEvent    = "event"
	auditBreaker  = "breaker"
	auditReport   = "report"
	auditLink     = "link"  // an undo and what it undoes; rev is 2 when it is void
	auditFault    = "fault" // an action that was found altered
	auditKey      = "key"   // a key that replaces another
)

// An AuditEntry is one entry of the audit log.
type AuditEntry struct {
	Lane    int    `db:"lane"       json:"lane"`  // the chain
	Entry   int64  `db:"entry"      json:"entry"` // its number in the chain, from 1
	Seen    int64  `db:"seen"       json:"seen"`  // number of entries in all chains then, including this one
	Account string `db:"account_id" json:"account_id,omitempty"`
	// Kind is decision, action, approval, event, breaker, report, link, fault, key, undo, rule, rules_version, direction, llm_rule or
	// adoption.
	Kind    string `db:"kind"       json:"kind"`
	Subject string `db:"subject_id" json:"subject_id"` // the id of the row
	Rev     int    `db:"rev"        json:"rev"`        // how often the row had been written
	// Note is the state of an action, the outcome of a request, the kind of an event, the undone action,
	// who requests an undo of which action, or the ends of the chains.
	Note   string `db:"note"   json:"note,omitempty"`
	Digest string `db:"digest" json:"digest"` // the signature over the row
	MAC    string `db:"mac"    json:"mac"`    // the signature over the entry and its predecessor

	At dbtime.Time `db:"created_at" json:"at"`

	kept bool // the seen file must have it before the program goes on
}

// signedParts returns what the MAC covers.
func (e *AuditEntry) signedParts(before string) []string {
	return []string{
		"entry of the log", before, strconv.Itoa(e.Lane), strconv.FormatInt(e.Entry, 10), strconv.FormatInt(e.Seen, 10), e.Account, e.Kind,
		e.Subject, strconv.Itoa(e.Rev), e.Note, e.Digest, dbtime.Format(e.At.Time),
	}
}

// An AuditHead is the end of a chain: the number of its entries and the signature over the last. If it is kept elsewhere, it
// later proves that the audit log up to there is unchanged.
type AuditHead struct {
	Lane    int    `db:"lane"    json:"lane"`
	Entries int64  `db:"entries" json:"entries"`
	MAC     string `db:"mac"     json:"mac"`
}

// String returns the head in the form that [ParseAuditHead] parses.
func (h AuditHead) String() string { return fmt.Sprintf("%d:%d:%s", h.Lane, h.Entries, h.MAC) }

// ParseAuditHead parses the result of [AuditHead.String].
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

	Last   lastEntry `db:"last"` // the last entry, with its MAC as the digest
	broken bool      // the end was altered: added entries stay unsealed
}

// entriesOf returns the number of entries in all chains.
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

// entry makes an entry about a row.
func (l *Ledger) entry(kind, account, subject string, rev int, note string, row []string) AuditEntry {
	return AuditEntry{
		Account: account, Kind: kind, Subject: subject, Rev: rev, Note: note, Digest: l.keys.sign(append([]string{kind}, row...)),
	}
}

// actionVersion begins the digest of an action that covers the whole row. Digests without it do not cover the turn, the seal and
// the undone action.
const actionVersion = "2."

func (l *Ledger) entryOfAction(r *actionRow) AuditEntry {
	e := l.entry(auditAction, r.AccountID, r.ID, r.Rev, string(r.State), r.parts())
	e.Digest = actionVersion + e.Digest
	e.kept = e.refuses() || l.gate.kinds.Danger(r.Type) == postroom.Dangerous
	return e
}

// logAction adds an entry about a change of an action. An entry about an altered row has no digest, and so verifies nothing.
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

// signedAs returns the signature of a digest, and the parts that it covers.
func (r *actionRow) signedAs(digest string) (signature string, parts []string) {
	if strings.HasPrefix(digest, actionVersion) {
		return signatureOf(digest), r.parts()
	}
	return digest, r.partsOnce()
}

// signatureOf is a digest without its version.
func signatureOf(digest string) string { return strings.TrimPrefix(digest, actionVersion) }

// logApproval adds an entry about a request. Its account is empty; the account is that of the action.
func (l *Ledger) logApproval(ctx context.Context, tx queue.Tx, r *approvalRow) error {
	e := l.entry(auditApproval, "", r.ID, r.Rev, string(r.Outcome), r.parts())
	e.kept = r.Outcome != OutcomeWaiting
	return l.log(ctx, tx, e)
}

// maxParts is the capacity for the parts of an action or a decision.
const maxParts = 24

// parts are the columns of the row, and the action that it undoes.
func (r *actionRow) parts() []string {
	turn := ""
	if r.Turn.Valid {
		turn = strconv.FormatInt(r.Turn.Int64, 10)
	}
	return append(r.partsOnce(), "turn", turn, r.Seal.String, r.Undoes)
}

// partsOnce are the parts that digests of the first version cover.
func (r *actionRow) partsOnce() []string {
	parts := append(make([]string, 0, maxParts),
		r.ID, r.AccountID, r.MessageID, r.DecisionID, string(r.Type), r.Parameters, string(r.State), r.Error, strconv.FormatBool(r.UndoHint.Valid),
		r.UndoHint.String, r.JobID, r.Content, stamp(r.CreatedAt), stamp(r.UpdatedAt), stamp(r.ExecutedAt), strconv.Itoa(r.Rev),
	)
	return withProvider(parts, r.ProviderID)
}

// withProvider adds the provider's id of the message to the signed parts. Rows from before that column are signed without it.
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
