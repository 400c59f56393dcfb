package lessons

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Of so many messages on which a rule or the models have acted last, a few conversations that were corrected warn, or
// make it ask.
const (
	driftOf    = 20
	driftWarns = 2
	driftAsks  = 3
	driftSince = 90 * 24 * time.Hour // what was done earlier is not looked at
)

// A DriftState is what follows from corrections of what a rule or the models do.
type DriftState string

// The states of a drift.
const (
	DriftRight DriftState = "right" // nothing follows
	DriftWarns DriftState = "warns" // a person is told
	DriftAsks  DriftState = "asks"  // a person is asked about what it decides
)

// A Drift is a rule, or the models of an account, whose last actions a person has corrected.
type Drift struct {
	AccountID string
	RuleID    string // empty: the models
	Rule      string // its name
	State     DriftState
	Acted     int // messages on which it has acted last, 20 at most
	Corrected int // conversations of those
	ChangedAt time.Time
	ChangedBy string // the person who has said that it is right; empty otherwise

	version string
	from    time.Time // earlier messages do not count
}

// Named names what has drifted, for people.
func (d *Drift) Named() string {
	if d.RuleID == "" {
		return "what the models decide"
	}
	return fmt.Sprintf("what the rule %q decides", d.Rule)
}

// Why says for people what was corrected.
func (d *Drift) Why() string {
	return fmt.Sprintf("of the last %d messages on which it has acted, you have corrected some in %d conversations",
		d.Acted, d.Corrected)
}

// Acting selects messages on which a rule, at a version, or the models of an account have acted.
type Acting struct {
	AccountID           string
	RuleID, RuleVersion string // empty: the models
	Since               time.Time
	Most                int
}

type driftRow struct {
	AccountID string      `db:"account_id"`
	RuleID    string      `db:"rule_id"`
	Version   string      `db:"rule_version"`
	Name      string      `db:"name"`
	State     DriftState  `db:"state"`
	Acted     int         `db:"acted"`
	Corrected int         `db:"corrected"`
	From      dbtime.Time `db:"counted_from"`
	ChangedAt dbtime.Time `db:"changed_at"`
	ChangedBy string      `db:"changed_by"`
}

func (r *driftRow) value() Drift {
	return Drift{AccountID: r.AccountID, RuleID: r.RuleID, Rule: r.Name, State: r.State, Acted: r.Acted,
		Corrected: r.Corrected, ChangedAt: r.ChangedAt.Time, ChangedBy: r.ChangedBy, version: r.Version, from: r.From.Time}
}

// verdictOf returns what a change by hand says about the action before it: one that reverts some of what the action
// did says that it was wrong, and one that does some of it that it was right. That mail is read or has a star says
// nothing: it is done with, or is still to be done.
func (s *Store) verdictOf(c *Change) Verdict {
	act := c.Proposed.Act
	kind, ok := s.cfg.Kinds.Kind(act.Action)
	if !ok || kind.Effect == nil || c.Proposed.ActionID == "" {
		return Silent
	}
	parameters := postroom.Parameters{}
	if act.Label != "" {
		parameters[postroom.ParamLabel] = act.Label
	}
	did := kind.Effect(parameters).Change
	among := func(changed, done []string) bool {
		return slices.ContainsFunc(changed, func(l string) bool {
			return l != postroom.LabelUnread && l != postroom.LabelStarred && slices.Contains(done, l)
		})
	}
	switch {
	case among(c.Change.Add, did.Remove) || among(c.Change.Remove, did.Add):
		return Wrong
	case among(c.Change.Add, did.Add) || among(c.Change.Remove, did.Remove):
		return Right
	}
	return Silent
}

// Contradicts reports whether a change says that what was proposed was wrong.
func (s *Store) Contradicts(c *Change) bool { return s.verdictOf(c) == Wrong }

// watch counts the corrections of what a rule or the models have done last, after one of them. Corrections in bulk that
// nobody has answered for do not count: what some of them had made warn or ask, before they were known to be such, is
// counted anew without them.
func (s *Store) watch(ctx context.Context, tx queue.Tx, c *Correction) error {
	if s.cfg.Acted == nil {
		return nil
	}
	is, err := s.pace(ctx, tx, c.AccountID)
	if err != nil || is != inABulk && !corrects(c) {
		return err
	}
	if is == inALongBulk { // it is counted if a person says so, and is known by then
		d := c.drift()
		_, err := s.lockDrift(ctx, tx, &d)
		return err
	}
	bulk, err := s.bulkAt(ctx, tx, c.AccountID)
	if err != nil {
		return err
	}
	list, err := s.drifting(ctx, tx, c, bulk.since)
	if err != nil {
		return err
	}
	for i := range list {
		was, err := s.lockDrift(ctx, tx, &list[i])
		if err != nil {
			return err
		}
		ofBulk := !bulk.since.IsZero() && !was.ChangedAt.Before(bulk.since)
		if was.State == DriftAsks && !ofBulk {
			continue // only a person ends it
		}
		d, err := s.recount(ctx, tx, was, bulk.ids)
		if err != nil {
			return err
		}
		tell := d.State != was.State && (d.State != DriftRight || ofBulk)
		if err := s.setDrift(ctx, tx, &d, tell); err != nil {
			return err
		}
	}
	return nil
}

// recount returns the drift as it is by what was done last, without the corrections in bulk.
func (s *Store) recount(ctx context.Context, tx queue.Tx, d Drift, bulk map[string]bool) (Drift, error) {
	messages, err := s.cfg.Acted(ctx, tx, Acting{AccountID: d.AccountID, RuleID: d.RuleID, RuleVersion: d.version,
		Since: later(d.from, queue.Now(tx).Add(-driftSince)), Most: driftOf})
	if err != nil {
		return d, fmt.Errorf("lessons: look for a drift of %s: %w", d.Named(), err)
	}
	d.Acted = len(messages)
	if d.Corrected, err = s.corrected(ctx, tx, &d, messages, bulk); err != nil {
		return d, err
	}
	switch {
	case d.Corrected >= driftAsks:
		d.State = DriftAsks
	case d.Corrected >= driftWarns:
		d.State = DriftWarns
	default:
		d.State = DriftRight
	}
	d.ChangedAt = queue.Now(tx)
	return d, nil
}

// lockDrift returns the drift of what has decided. Each version of a rule has its own.
func (s *Store) lockDrift(ctx context.Context, tx queue.Tx, d *Drift) (Drift, error) {
	var row driftRow
	err := dbquery.Get(ctx, tx, &row, sqlLockDrift, d.AccountID, d.RuleID, d.version, dbvalue.Clean(d.Rule),
		dbtime.Of(queue.Now(tx)))
	if err != nil {
		return Drift{}, fmt.Errorf("lessons: look for a drift in account %s: %w", d.AccountID, err)
	}
	return row.value(), nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// corrected counts the conversations of messages with an action of the rule or the models that stands as wrong: one
// click on a conversation corrects all of its messages.
func (s *Store) corrected(ctx context.Context, tx queue.Tx, d *Drift, messages []string, bulk map[string]bool) (int,
	error) {
	source := postroom.SourceModel
	if d.RuleID != "" {
		source = postroom.SourceDeterministic
	}
	var rows []struct {
		ID        string  `db:"id"`
		MessageID string  `db:"message_id"`
		ActionID  string  `db:"action_id"`
		Says      Verdict `db:"verdict"`
	}
	err := dbquery.Select(ctx, tx, &rows, sqlVerdicts, d.AccountID, d.RuleID, string(source),
		dbtime.Of(queue.Now(tx).Add(-driftSince)))
	if err != nil {
		return 0, fmt.Errorf("lessons: read the corrections of account %s: %w", d.AccountID, err)
	}
	last := map[string]Verdict{}
	for _, r := range rows {
		if !bulk[r.ID] {
			last[r.ActionID] = r.Says
		}
	}
	wrong, threads := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		if last[r.ActionID] != Wrong || wrong[r.MessageID] || !slices.Contains(messages, r.MessageID) {
			continue
		}
		wrong[r.MessageID] = true
		thread, err := s.threadOf(ctx, tx, d.AccountID, r.MessageID)
		if err != nil {
			return 0, err
		}
		threads[thread] = true
	}
	return len(threads), nil
}

// threadOf returns the conversation of a message, or the message if it is not known.
func (s *Store) threadOf(ctx context.Context, tx queue.Tx, accountID, messageID string) (string, error) {
	if s.cfg.Thread == nil {
		return messageID, nil
	}
	thread, err := s.cfg.Thread(ctx, tx, accountID, messageID)
	if err != nil && !errors.Is(err, postroom.ErrNotFound) {
		return "", fmt.Errorf("lessons: look for the conversation of message %s: %w", messageID, err)
	}
	return cmp.Or(thread, messageID), nil
}

// setDrift writes a drift that was counted, and tells the host of it.
func (s *Store) setDrift(ctx context.Context, tx queue.Tx, d *Drift, tell bool) error {
	_, err := dbquery.Exec(ctx, tx, sqlSetDrift, string(d.State), d.Acted, d.Corrected, dbtime.Of(d.ChangedAt),
		d.AccountID, d.RuleID, d.version)
	if err != nil {
		return fmt.Errorf("lessons: write the drift of %s: %w", d.Named(), err)
	}
	if !tell || s.cfg.Drifted == nil {
		return nil
	}
	return s.cfg.Drifted(ctx, tx, *d)
}

// Asks returns, for people, why a person is to be asked about a decision: its rule, or the models of the account, have
// been corrected too often. It is empty if they have not.
func (s *Store) Asks(ctx context.Context, tx queue.Tx, accountID string, d postroom.Decision) (string, error) {
	byRule := d.Source == postroom.SourceDeterministic && d.RuleID != ""
	if !byRule && d.Source != postroom.SourceModel {
		return "", nil
	}
	id, version := "", ""
	if byRule {
		id, version = d.RuleID, d.RuleVersion
	}
	var row driftRow
	err := dbquery.Get(ctx, tx, &row, sqlDrift, accountID, id, version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("lessons: look for a drift in account %s: %w", accountID, err)
	case row.State != DriftAsks:
		return "", nil
	}
	found := row.value()
	return found.Why() + ", so you are asked until you say that it is right again", nil
}

// Drifts lists the rules of an account that warn or ask, without those that have been changed, disabled or removed
// since, and its models, if they do.
func (s *Store) Drifts(ctx context.Context, accountID string) ([]Drift, error) {
	var rows []driftRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlDrifts, accountID); err != nil {
		return nil, fmt.Errorf("lessons: list the drifts of account %s: %w", accountID, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	inUse, err := s.rulesInUse(ctx, accountID)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{"": ""}
	for i := range inUse {
		if inUse[i].Enabled {
			versions[inUse[i].ID] = inUse[i].Version()
		}
	}
	var list []Drift
	for i := range rows {
		if version, ok := versions[rows[i].RuleID]; ok && version == rows[i].Version {
			list = append(list, rows[i].value())
		}
	}
	return list, nil
}

// RightAgain ends the warning of all versions of a rule or, without an id, of the models, and that people are asked:
// what was done before does not count any more. by is the person. It returns the drift that was the last to change. If
// there is nothing to end, the error is [ErrRight].
func (s *Store) RightAgain(ctx context.Context, tx queue.Tx, accountID, ruleID, by string) (Drift, error) {
	var rows []driftRow
	if err := dbquery.Select(ctx, tx, &rows, sqlDriftsOfRule, accountID, ruleID); err != nil {
		return Drift{}, fmt.Errorf("lessons: look for a drift in account %s: %w", accountID, err)
	}
	if len(rows) == 0 {
		return Drift{}, fmt.Errorf("lessons: neither a warning nor a question is about it by now: %w", ErrRight)
	}
	d := rows[0].value()
	_, err := dbquery.Exec(ctx, tx, sqlEndDrift, dbtime.Of(queue.Now(tx)), dbvalue.Clean(by), accountID, ruleID)
	if err != nil {
		return d, fmt.Errorf("lessons: write the drift of %s: %w", d.Named(), err)
	}
	return d, nil
}

// ErrRight reports that nothing warns about a rule or the models, and that nobody is asked because of it.
var ErrRight = errors.New("it is right already")
