package lessons

import (
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
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
)

// A Kind says how a person has made a correction.
type Kind string

// The kinds of corrections.
const (
	Relabelled Kind = "relabelled" // the labels were changed in the mailbox, and it is not MovedBack
	MovedBack  Kind = "moved_back" // into the inbox
	Undone     Kind = "undone"
	Redone     Kind = "redone" // an undo was taken back
	Approved   Kind = "approved"
	Rejected   Kind = "rejected"
	Edited     Kind = "edited" // what was asked was changed, and is asked anew
	Chosen     Kind = "chosen" // in place of what was asked
)

// ByHand is the author of changes in the mailbox, who has no name there.
const ByHand = "by hand"

// A Decided is what a program had decided about a message. The zero Decided is for a message that it had left alone.
type Decided struct {
	ActionID string
	RuleID   string // of the rule that decided, if one did
	Source   postroom.Source
	Act      learn.Act

	// Rule and RuleVersion are the name and the version of the rule when it decided. [Store.Corrections] does not have
	// them.
	Rule, RuleVersion string
}

// DecidedOf returns what an action does that a decision has led to.
func DecidedOf(a postroom.Action, by postroom.Decision) Decided {
	d := Decided{ActionID: a.ID, RuleID: by.RuleID, Source: by.Source, Act: learn.Act{Action: a.Type},
		Rule: by.RuleName, RuleVersion: by.RuleVersion}
	d.Act.Label, _ = a.Parameters.Text(postroom.ParamLabel)
	return d
}

// A Correction is one that a person has made.
type Correction struct {
	ID        string
	AccountID string
	MessageID string
	Kind      Kind
	By        string
	Proposed  Decided
	// Final is what the message was to have after this correction and those before it, if Votes: a correction that says
	// nothing about where mail belongs, such as an approved answer, leaves both as they were.
	Final learn.Act
	Votes bool
	// Says is what it says about the action that was proposed.
	Says Verdict
	At   time.Time
}

// A Verdict is what a correction says about the action that a program had decided on.
type Verdict int

// The verdicts. Of several about one action the last stands.
const (
	Silent Verdict = iota
	Wrong          // it was rejected or taken back
	Right          // it was approved, or done again
)

// A Change is a change of labels by hand.
type Change struct {
	AccountID string
	MessageID string
	Change    postroom.LabelChange
	Labels    postroom.Snapshot // afterwards
	Proposed  Decided           // what was done to the message, which the change may contradict; see [Store.Contradicts]
}

// LabelsChanged records a change of labels that a person, or another program, has made in the mailbox. That mail was
// read is no correction, and is not recorded.
func (s *Store) LabelsChanged(ctx context.Context, tx queue.Tx, c Change) error {
	kind := Relabelled
	switch {
	case slices.Contains(c.Change.Add, postroom.LabelInbox):
		kind = MovedBack
	case !slices.ContainsFunc(slices.Concat(c.Change.Add, c.Change.Remove), says):
		return nil
	}
	return s.record(ctx, tx, Correction{AccountID: c.AccountID, MessageID: c.MessageID, Kind: kind, By: ByHand,
		Proposed: c.Proposed, Says: s.verdictOf(&c)}, func(was vote) vote { return was.after(&c) })
}

// says reports whether a person who gives or takes the label says where the message belongs.
func says(label string) bool {
	switch label {
	case postroom.LabelInbox, postroom.LabelStarred, postroom.LabelTrash, postroom.LabelSpam:
		return true
	}
	return rules.IsLabelID(label)
}

// Answered records that a person has approved or rejected an action.
func (s *Store) Answered(ctx context.Context, tx queue.Tx, a postroom.Action, proposed Decided, approved bool,
	by string) error {
	kind, says, next := Rejected, Wrong, func(was vote) vote { return was.without(proposed.Act) }
	if approved {
		kind, says, next = Approved, Right, func(was vote) vote { return was.with(proposed.Act) }
	}
	return s.record(ctx, tx, correctionOf(a, kind, says, proposed, by), next)
}

// Edited records that a person has changed what an action would send. It says nothing about where mail belongs.
func (s *Store) Edited(ctx context.Context, tx queue.Tx, a postroom.Action, proposed Decided, by string) error {
	return s.record(ctx, tx, correctionOf(a, Edited, Silent, proposed, by), func(was vote) vote { return was })
}

// Undone records that a person has taken an action back.
func (s *Store) Undone(ctx context.Context, tx queue.Tx, a postroom.Action, proposed Decided, by string) error {
	return s.record(ctx, tx, correctionOf(a, Undone, Wrong, proposed, by),
		func(was vote) vote { return was.without(proposed.Act) })
}

// Redone records that a person has taken back the undo of an action, which is thereby right.
func (s *Store) Redone(ctx context.Context, tx queue.Tx, a postroom.Action, proposed Decided, by string) error {
	return s.record(ctx, tx, correctionOf(a, Redone, Right, proposed, by),
		func(was vote) vote { return was.with(proposed.Act) })
}

// Chosen records that a person has chosen an act in place of an action.
func (s *Store) Chosen(ctx context.Context, tx queue.Tx, a postroom.Action, proposed Decided, act learn.Act,
	by string) error {
	return s.record(ctx, tx, correctionOf(a, Chosen, Wrong, proposed, by), func(was vote) vote { return was.with(act) })
}

func correctionOf(a postroom.Action, kind Kind, says Verdict, proposed Decided, by string) Correction {
	return Correction{AccountID: a.AccountID, MessageID: a.MessageID, Kind: kind, By: by, Proposed: proposed, Says: says}
}

// record writes a correction, whose vote follows from the one before, and looks for a drift of what it corrects.
func (s *Store) record(ctx context.Context, tx queue.Tx, c Correction, next func(was vote) vote) (err error) {
	failed := func(err error) error {
		return fmt.Errorf("lessons: record that message %s was %s: %w", c.MessageID, c.Kind, err)
	}
	var row feedbackRow
	err = dbquery.Get(ctx, tx, &row, sqlLastFeedback, c.AccountID, c.MessageID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return failed(err)
	}
	now := next(vote{row.final(), row.Votes == 1})
	if c.ID, err = uuid7.New(); err != nil {
		return failed(err)
	}
	votes := 0
	if now.votes {
		votes = 1
	}
	p := c.Proposed
	_, err = dbquery.Exec(ctx, tx, sqlInsertFeedback, c.ID, c.AccountID, c.MessageID, string(c.Kind),
		dbvalue.Clean(c.By), p.ActionID, p.RuleID, string(p.Source), string(p.Act.Action), dbvalue.Clean(p.Act.Label),
		string(now.act.Action), dbvalue.Clean(now.act.Label), votes, dbtime.Of(queue.Now(tx)), int(c.Says))
	if err != nil {
		return failed(err)
	}
	return s.watch(ctx, tx, &c)
}

type feedbackRow struct {
	ID             string              `db:"id"`
	AccountID      string              `db:"account_id"`
	MessageID      string              `db:"message_id"`
	Kind           Kind                `db:"kind"`
	By             string              `db:"made_by"`
	ActionID       string              `db:"action_id"`
	RuleID         string              `db:"rule_id"`
	Source         postroom.Source     `db:"source"`
	ProposedAction postroom.ActionType `db:"proposed_action"`
	ProposedLabel  string              `db:"proposed_label"`
	FinalAction    postroom.ActionType `db:"final_action"`
	FinalLabel     string              `db:"final_label"`
	Votes          int                 `db:"votes"`
	Counted        int                 `db:"counted"`
	Says           Verdict             `db:"verdict"`
	CreatedAt      dbtime.Time         `db:"created_at"`
}

func (r *feedbackRow) final() learn.Act { return learn.Act{Action: r.FinalAction, Label: r.FinalLabel} }

func (r *feedbackRow) value() Correction {
	return Correction{ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, Kind: r.Kind, By: r.By,
		Proposed: Decided{ActionID: r.ActionID, RuleID: r.RuleID, Source: r.Source,
			Act: learn.Act{Action: r.ProposedAction, Label: r.ProposedLabel}},
		Final: r.final(), Votes: r.Votes == 1, Says: r.Says, At: r.CreatedAt.Time}
}

// Verdicts returns what the corrections of an account since an instant say about actions, by their ids. Those that a
// person has said not to be a person's, and those in bulk that nobody has answered for, say nothing.
func (s *Store) Verdicts(ctx context.Context, accountID string, since time.Time) (map[string]Verdict, error) {
	rows, err := s.feedback(ctx, accountID, since)
	if err != nil {
		return nil, err
	}
	verdicts, atOnce := map[string]Verdict{}, unanswered(rows)
	for i := range rows {
		if r := &rows[i]; r.Says != Silent && r.Counted != countsNot && !atOnce[r.ID] {
			verdicts[r.ActionID] = r.Says
		}
	}
	return verdicts, nil
}

const maxList = 1000

// Corrections lists the corrections of an account, newest first. limit is 1 to 1000.
func (s *Store) Corrections(ctx context.Context, accountID string, limit int) ([]Correction, error) {
	if limit < 1 || limit > maxList {
		return nil, fmt.Errorf("lessons: list corrections: the limit is %d; it must be within 1 and %d", limit, maxList)
	}
	var rows []feedbackRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlListFeedback, accountID, limit); err != nil {
		return nil, fmt.Errorf("lessons: list corrections: %w", err)
	}
	list := make([]Correction, len(rows))
	for i := range rows {
		list[i] = rows[i].value()
	}
	return list, nil
}
