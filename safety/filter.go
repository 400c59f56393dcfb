package safety

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
)

// A Filter selects entries of the ledger; empty fields select all.
type Filter struct {
	AccountID string
	MessageID string
	Rule      string                 // the id, or the name at the time, of the rule that decided
	Types     []postroom.ActionType  // of the action; undo_<type> and redo_<type> are allowed
	States    []postroom.ActionState // of the action
	Sources   []postroom.Source      // of the decision
	KeyPrefix string                 // a prefix of the decision's Key, such as that of a batch
	Group     string                 // of the request, see [Approval]; only for [Ledger.Approvals]

	// Since excludes actions recorded before it, and Until those recorded at or after it. [ParseWindow] parses "24h" and
	// "7d".
	Since, Until time.Time

	// EndedSince and EndedUntil select the actions that came to their end then, whenever they were recorded, without those
	// of type none.
	EndedSince, EndedUntil time.Time

	// Sender is an address if it contains an @, and otherwise a domain, which includes its subdomains. Case is ignored.
	Sender string

	// Confidence, if not nil, selects by confidence, and excludes decisions without one (source none).
	Confidence *Range

	// Before is the id of an action: only older actions are listed. The id of the last entry of a page selects the next
	// page.
	Before string

	// Limit is the maximum number of entries. Default 20; bounds 1 to 100.
	Limit int

	fewSure bool // few decisions have such a confidence: their index finds them
}

// SelectsAll reports whether the filter restricts nothing; its Before and Limit do not count.
func (f Filter) SelectsAll() bool {
	return f.AccountID == "" && f.MessageID == "" && f.Rule == "" && len(f.Types) == 0 && len(f.States) == 0 &&
		len(f.Sources) == 0 && f.Since.IsZero() && f.Until.IsZero() &&
		f.EndedSince.IsZero() && f.EndedUntil.IsZero() && strings.TrimSpace(f.Sender) == "" &&
		f.Confidence == nil && f.KeyPrefix == "" && f.Group == ""
}

// A Range is a range of confidence, both ends included: 0 ≤ Min ≤ Max ≤ 1.
type Range struct{ Min, Max float64 }

const (
	defaultLimit = 20
	maxLimit     = 100
)

func (f Filter) withDefaults(kinds *postroom.Kinds) (Filter, error) {
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return f, fmt.Errorf("safety: Filter.Limit is %d; it must be within 1 and %d", f.Limit, maxLimit)
	}
	if r := f.Confidence; r != nil && !(0 <= r.Min && r.Min <= r.Max && r.Max <= 1) {
		return f, fmt.Errorf("safety: Filter.Confidence is %v to %v; it must be a range within 0 and 1", r.Min, r.Max)
	}
	for _, t := range f.Types {
		if !kinds.Knows(Undone(t)) {
			return f, fmt.Errorf("safety: Filter.Types: %q is no action; the actions are %v", string(t), kinds.Types())
		}
	}
	for _, s := range f.States {
		if _, ok := before[s]; !ok {
			return f, fmt.Errorf("safety: Filter.States: %q is no state of an action; the states are %s", string(s), stateNames)
		}
	}
	for _, s := range f.Sources {
		if !validSource(s) {
			return f, fmt.Errorf("safety: Filter.Sources: %q is no source; use deterministic, llm, host or none", string(s))
		}
	}
	return f, nil
}

const stateNames = "queued, executing, pending_approval, completed, failed, canceled and rejected"

// build appends the filter's clauses to a listing and numbers its parameters.
func (f Filter) build(listing string) (query string, args []any, err error) {
	w := where{clauses: []string{"1 = 1"}}
	w.text("actions.account_id = ?", f.AccountID)
	w.text("actions.message_id = ?", f.MessageID)
	w.text("approvals.group_id <> '' AND approvals.group_id = ?", f.Group) // the index has no others
	if f.Rule != "" {
		w.add("(decisions.rule_id = ? OR decisions.rule_name = ?)", f.Rule, f.Rule)
	}
	w.text("actions.id < ?", f.Before)
	in(&w, "actions.type IN (?)", f.Types)
	in(&w, "actions.state IN (?)", f.States)
	if len(f.States) > 0 && !slices.ContainsFunc(f.States, postroom.ActionState.Final) {
		w.add(isOpen)
	}
	in(&w, "decisions.source IN (?)", f.Sources)
	w.instant("actions.id >= "+firstSince, f.Since)
	w.instant("NOT (actions.created_at < ?)", f.Since) // by itself SQLite would read and sort the whole window
	w.instant("NOT (actions.created_at >= ?)", f.Until)
	w.instant("actions.ended_at >= ?", f.EndedSince)
	w.instant("actions.ended_at < ?", f.EndedUntil)
	w.sender(f.Sender)
	if f.KeyPrefix != "" {
		w.add(`decisions.decision_key LIKE ? ESCAPE '\'`, escapeLike.Replace(dbvalue.Clean(f.KeyPrefix))+"%")
	}
	switch {
	case f.fewSure:
		w.add("decisions.id IN ("+selectOfConfidence+")", f.Confidence.Min, f.Confidence.Max)
	case f.Confidence != nil:
		w.add("decisions.confidence BETWEEN ? AND ?", f.Confidence.Min, f.Confidence.Max)
	}
	w.args = append(w.args, f.Limit)
	query, args, err = sqlx.In(listing+strings.Join(w.clauses, "\n  AND ")+newestFirst, w.args...)
	return sqlx.Rebind(sqlx.DOLLAR, query), args, err
}

type where struct {
	clauses []string
	args    []any
}

func (w *where) add(clause string, args ...any) {
	w.clauses = append(w.clauses, clause)
	w.args = append(w.args, args...)
}

func (w *where) text(clause, value string) {
	if value != "" {
		w.add(clause, value)
	}
}

func (w *where) instant(clause string, at time.Time) {
	if !at.IsZero() {
		w.add(clause, dbtime.Of(at))
	}
}

func in[T any](w *where, clause string, values []T) {
	if len(values) > 0 {
		w.add(clause, values)
	}
}

var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (w *where) sender(s string) {
	s = dbvalue.Clean(strings.ToLower(strings.TrimSpace(s)))
	switch {
	case s == "":
	case strings.Contains(s, "@"):
		w.add("decisions.sender = ?", s)
	default:
		domain := escapeLike.Replace(s)
		w.add(`(decisions.sender LIKE ? ESCAPE '\' OR decisions.sender LIKE ? ESCAPE '\')`, "%@"+domain, "%@%."+domain)
	}
}
