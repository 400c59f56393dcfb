package away

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

// A Ledger records decisions; *safety.Ledger implements it.
type Ledger interface {
	// Record returns the function that stores the decision and its action.
	Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context, tx queue.Tx) (
		postroom.Action, error)
}

// RuleName is the name of the rule that an absence is to the ledger, and rulePrefix begins its id.
const (
	RuleName   = "away"
	rulePrefix = "away:"
)

// parameter of auto_reply; see package outbox.
const paramBody = "body"

// IsRule reports whether the id of a rule is that of an absence.
func IsRule(ruleID string) bool { return strings.HasPrefix(ruleID, rulePrefix) }

// actions are what the absence does, as a rule.
func (a *Absence) actions() []postroom.RuleAction {
	return []postroom.RuleAction{{Type: postroom.AutoReply, Parameters: postroom.Parameters{paramBody: a.Text}}}
}

func (a *Absence) decision(sender string) postroom.Decision {
	does := a.actions()[0]
	return postroom.Decision{
		Action: does.Type, Parameters: does.Parameters, Confidence: 1, Source: postroom.SourceDeterministic,
		Rationale: fmt.Sprintf("%s is away until %s, and %s has had no answer of this absence", a.SetBy, a.LastDay(), sender),
		RuleID:    rulePrefix + a.ID, RuleName: RuleName, RuleVersion: a.ID, SafeMode: postroom.SafeDangerousOverride,
		Key: rulePrefix + a.ID,
	}
}

// StoredRule returns the absence as the rule of the owner that it is to the ledger, or [postroom.ErrNotFound].
func (s *Service) StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error) {
	a, err := absenceOf(ctx, tx, sqlAbsenceByID, strings.TrimPrefix(id, rulePrefix))
	if err != nil {
		return postroom.StoredRule{}, err
	}
	return postroom.StoredRule{ID: rulePrefix + a.ID, Name: RuleName, Version: a.ID, Enabled: a.On(s.cfg.Now()),
		Actions: a.actions(), SafeMode: postroom.SafeDangerousOverride}, nil
}

// Decide returns the function that records the answer to a new message, or why it is not answered, in the transaction
// that records what rules and models have decided about it; nil if nobody is away. Do not call Decide inside a write
// transaction. The message needs its ids only when the function is called.
func (s *Service) Decide(ctx context.Context, msg *postroom.Message, decided []postroom.Decision, ledger Ledger) (
	record func(ctx context.Context, tx queue.Tx) error, err error) {
	a, err := absenceOf(ctx, s.db().Reader(), sqlAbsence, msg.AccountID)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && s.outside(a, msg) != "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	why := answeredBy(decided)
	if why == "" {
		why, err = s.whyNot(ctx, a, msg, s.ownOrAlone)
	}
	if err != nil {
		return nil, err
	}
	if why != "" {
		return func(ctx context.Context, tx queue.Tx) error { return s.pass(ctx, tx, msg, why) }, nil
	}
	d := a.decision(msg.From.Email)
	return func(ctx context.Context, tx queue.Tx) error {
		return s.record(ctx, tx, a, msg, ledger.Record(ctx, msg, d))
	}, nil
}

// answeredBy says which decision makes an answer of an absence superfluous: it answers, or throws the message away. It
// is empty if none does.
func answeredBy(decided []postroom.Decision) string {
	for _, d := range decided {
		switch {
		case d.Source != postroom.SourceDeterministic:
		case d.Action == postroom.AutoReply:
			return "the rule '" + d.RuleName + "' answers it"
		case d.Action == postroom.Trash, d.Action == postroom.Delete:
			return "the rule '" + d.RuleName + "' throws it away"
		}
	}
	return ""
}

// record takes the turn of the sender and records the decision. An action that ends without having sent anything, be it
// at once, leaves the turn to the next message.
func (s *Service) record(ctx context.Context, tx queue.Tx, a *Absence, msg *postroom.Message,
	record func(ctx context.Context, tx queue.Tx) (postroom.Action, error)) error {
	now, err := absenceOf(ctx, tx, sqlAbsence, a.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if now.ID != a.ID || !now.On(s.cfg.Now()) {
		return s.pass(ctx, tx, msg, "the absence was changed or ended just then")
	}
	own, err := s.freeExpired(ctx, tx, a, msg)
	if err != nil || own {
		return err
	}
	why, err := s.claim(ctx, tx, a, msg)
	if err != nil {
		return err
	}
	if why != "" {
		return s.pass(ctx, tx, msg, why)
	}
	action, err := record(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := dbquery.Exec(ctx, tx, sqlAnswering, a.AccountID, senderOf(msg), action.ID); err != nil {
		return fmt.Errorf("away: note what answers a sender: %w", err)
	}
	if action.State != postroom.ActionCanceled && action.State != postroom.ActionFailed {
		return nil
	}
	return Ended(ctx, tx, action)
}

// Ended gives the turn of a sender back if an action has ended that was to answer, and that has certainly sent nothing.
// Call it in the transaction that ends an action; it is for the field OnEnded of the configuration of package safety.
func Ended(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if a.Type != postroom.AutoReply || a.State == postroom.ActionCompleted || a.UndoHint != nil &&
		a.UndoHint.Intent != nil {
		return nil
	}
	if _, err := dbquery.Exec(ctx, tx, sqlRelease, a.AccountID, a.ID); err != nil {
		return fmt.Errorf("away: give back the turn of a sender: %w", err)
	}
	return nil
}

// claim writes that the sender of a message is answered, or returns why the message is not: the sender has been, in the
// period, or too many others.
func (s *Service) claim(ctx context.Context, tx queue.Tx, a *Absence, msg *postroom.Message) (why string, err error) {
	now := s.cfg.Now()
	today, err := countAnswers(ctx, tx, a.AccountID, now.Add(-24*time.Hour))
	if err != nil {
		return "", err
	}
	if today >= s.cfg.PerDay {
		s.cfg.Logger.WarnContext(ctx, "away: no more mail is answered for a day", "account", a.AccountID, "answers", today,
			"message", msg.ProviderID)
		return fmt.Sprintf("%d senders were answered within 24 hours, and no more are", today), nil
	}
	n, err := dbquery.Exec(ctx, tx, sqlClaim, a.AccountID, senderOf(msg), msg.ID, dbtime.Of(now), dbtime.Of(a.before(now)))
	if err != nil {
		return "", fmt.Errorf("away: take the turn of a sender: %w", err)
	}
	if n == 0 {
		return "an earlier message of its sender has the answer", nil
	}
	return "", nil
}

// before is the instant before which a sender was answered who is answered again.
func (a *Absence) before(now time.Time) time.Time {
	if a.Days == 0 {
		return a.Since
	}
	return now.Add(-time.Duration(a.Days) * 24 * time.Hour)
}

// senderOf returns the sender as answers are counted: tags and dots make no other person.
func senderOf(msg *postroom.Message) string { return mailname.Mailbox(msg.From.Email) }

// Confirm looks at a message again, as Gmail has it, just before its answer is sent, and returns why it is not to be
// answered now; empty if it is.
func (s *Service) Confirm(ctx context.Context, msg *postroom.Message, p postroom.Permit) (fault string, err error) {
	a, fault, err := s.wanted(ctx, msg.AccountID, p)
	if err != nil || fault != "" {
		return fault, err
	}
	for _, label := range []string{postroom.LabelSpam, postroom.LabelTrash} { // also if that was done since the decision
		if slices.Contains(p.LabelsNow, label) {
			return unanswered[label], nil
		}
	}
	return s.why(ctx, a, msg, s.ownOf)
}

// Wanted is [Service.Confirm] for an answer that a person has approved: who has looked at the message is believed, and
// the absence must still be on.
func (s *Service) Wanted(ctx context.Context, p postroom.Permit) (fault string, err error) {
	_, fault, err = s.wanted(ctx, p.Action.AccountID, p)
	return fault, err
}

func (s *Service) wanted(ctx context.Context, accountID string, p postroom.Permit) (a *Absence, fault string,
	err error) {
	a, err = absenceOf(ctx, s.db().Reader(), sqlAbsence, accountID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil, "the absence is no longer stored", nil
	case err != nil:
		return nil, "", err
	case a.ID != p.Decision.RuleVersion:
		return a, "the absence was changed since", nil
	case !a.EndedAt.IsZero():
		return a, a.back(), nil
	case a.Over(s.cfg.Now()):
		return a, "the absence is over", nil
	}
	return a, "", nil
}

// back says that somebody has ended the absence.
func (a *Absence) back() string { return a.EndedBy + " is back" }
