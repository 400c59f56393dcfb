package safety

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/injection"
	"github.com/postroom-go/postroom/safety/internal/counts"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/origin"
)

// maxModelSnooze is the longest snooze that a model may decide alone.
const maxModelSnooze = 14 * 24 * time.Hour

// A seenMail is what the reading of a message found, before the transaction that records a decision about it.
type seenMail struct {
	indicators []injection.Indicator // of an attack, if a model decides
	origin     origin.Origin
	known      bool // the user has written to the sender; false if nobody needs to know
}

// known reports whether the user has written to the sender of a message, who shares a bound with others.
func (j *judge) known(ctx context.Context, msg *postroom.Message, from origin.Origin) (bool, error) {
	if j.cfg.Correspondents == nil || from.Mailbox == "" {
		return false, nil
	}
	known, err := j.cfg.Correspondents.WrittenTo(ctx, msg.AccountID, msg.From.Email)
	if err != nil {
		return false, fmt.Errorf("safety: ask whether the user has written to the sender of message %s: %w", msg.ID, err)
	}
	return known, nil
}

// modelDoubts are the reasons to ask a person about a model's decision.
func (j *judge) modelDoubts(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, seen seenMail,
) ([]Doubt, error) {
	if d.Action == postroom.None || j.cfg.Kinds.Check(d.Action, d.Parameters, queue.Now(tx).Local()) != nil {
		return nil, nil //nolint:nilerr // what cannot be carried out does nothing
	}
	doubts, err := j.capabilityDoubts(ctx, msg, d)
	if err != nil {
		return nil, err
	}
	gate := j.gateOf(accountIn(msg))
	doubts = append(gate.aloneDoubts(d, queue.Now(tx).Local()), doubts...)
	if msg == nil {
		return doubts, nil
	}
	for _, i := range seen.indicators {
		doubts = append(doubts, Doubt{Override(i.Kind), i.Reason})
	}
	if seen.origin.Notice {
		doubts = append(doubts, gate.noticeDoubts(d)...)
	}
	if len(doubts) > 0 || !slices.Contains(gate.hiding(), d.Action) {
		return doubts, nil // a decision that waits anyway does not use up the share
	}
	doubt, err := j.shareDoubt(ctx, tx, msg.AccountID, seen.origin)
	if err != nil || doubt == nil {
		return nil, err
	}
	return []Doubt{*doubt}, nil
}

// aloneDoubts asks about an action that models may not carry out alone.
func (g *Gate) aloneDoubts(d postroom.Decision, now time.Time) []Doubt {
	kind, ok := g.kinds.Kind(d.Action)
	switch {
	case !ok || kind.Danger == postroom.Dangerous:
		return nil // the check of danger asks
	case !slices.Contains(g.policy.ModelUnattended, d.Action):
		return []Doubt{{OverrideModel,
			fmt.Sprintf("a model does not %s alone", strings.ReplaceAll(string(d.Action), "_", " "))}}
	case kind.Effect == nil:
		return nil
	}
	if d.Action == postroom.Snooze {
		if until, err := postroom.SnoozeUntil(d.Parameters, now); err != nil || until.Sub(now) > maxModelSnooze {
			return []Doubt{{OverrideModel, "a model does not snooze for more than two weeks alone"}}
		}
	}
	if label := wrongPlace(d.Action, kind.Effect(d.Parameters).Change); label != "" {
		return []Doubt{{OverrideModel, fmt.Sprintf("a model does not change %s alone", label)}}
	}
	return nil
}

// wrongPlace returns the system label inbox, trash or spam if the action adds or removes it as a label. Archive,
// trash and spam have actions of their own, which are counted. Nothing may take a message out of spam.
func wrongPlace(action postroom.ActionType, change postroom.LabelChange) string {
	for _, place := range []string{postroom.LabelInbox, postroom.LabelTrash, postroom.LabelSpam} {
		moves := action == postroom.Move || action == postroom.Snooze
		named := action == postroom.ApplyLabel || action == postroom.RemoveLabel || moves && place != postroom.LabelInbox
		touches := func(label string) bool { return strings.EqualFold(label, place) }
		if (named || place == postroom.LabelSpam) &&
			(slices.ContainsFunc(change.Add, touches) || slices.ContainsFunc(change.Remove, touches)) {
			return place
		}
	}
	return ""
}

// hiding are the kinds that models may carry out alone and that take a message out of the inbox, and the host's own
// kinds, which may do so.
func (g *Gate) hiding() []postroom.ActionType {
	var types []postroom.ActionType
	for _, t := range g.policy.ModelUnattended {
		switch _, standard := postroom.StandardKind(t); {
		case t == postroom.Archive, t == postroom.Move, t == postroom.Snooze, t == postroom.Trash, !standard:
			types = append(types, t)
		}
	}
	return types
}

// shareWindow is the window of ModelShare.
const shareWindow = 24 * time.Hour

// shareDoubt asks a person when models have used up their share of the account's messages within the window. The mail
// of lists is in no share.
func (j *judge) shareDoubt(ctx context.Context, tx queue.Tx, accountID string, from origin.Origin) (*Doubt, error) {
	if from.Name == origin.List {
		return nil, nil
	}
	if err := limits.Lock(ctx, tx, accountID); err != nil {
		return nil, err
	}
	gate := j.gateOf(accountID)
	senders, err := j.counts.BySender(ctx, tx, accountID, gate.hiding(), queue.Now(tx).Add(-shareWindow))
	if err != nil {
		return nil, err
	}
	taken, base := shareOf(senders)
	if taken < max(gate.policy.ModelFree, int(gate.policy.ModelShare*float64(base))) {
		return nil, nil
	}
	return &Doubt{OverrideShare, fmt.Sprintf("models have taken %d messages that no list sends out of the inbox "+
		"within a day, and %d came that count", taken, base)}, nil
}

// senderShare is the part of each sender in what a share is of: more mail of one sender does not raise it.
const senderShare = 10

// shareOf returns how many messages models have taken, and of how many that is a share.
func shareOf(senders []counts.Sender) (taken, base int) {
	all := 0
	for _, s := range senders {
		all += s.Decided
	}
	for _, s := range senders {
		taken += s.Taken
		base += min(s.Decided, max(1, all/senderShare))
	}
	return taken, base
}

// noticeDoubts asks about an action that hides a notice of a program from its reader.
func (g *Gate) noticeDoubts(d postroom.Decision) []Doubt {
	if !g.hides(d) {
		return nil
	}
	return []Doubt{{OverrideNotice, "a model does not hide the notice of a program to you, such as that of a bank"}}
}

// hides reports whether an action takes a message out of the inbox, marks it as read, or may do so.
func (g *Gate) hides(d postroom.Decision) bool {
	if _, standard := postroom.StandardKind(d.Action); !standard {
		return true
	}
	if slices.Contains([]postroom.ActionType{postroom.Archive, postroom.Move, postroom.Snooze, postroom.MarkRead,
		postroom.Trash}, d.Action) {
		return true
	}
	kind, ok := g.kinds.Kind(d.Action)
	return ok && kind.Effect != nil &&
		slices.Contains(kind.Effect(d.Parameters).Change.Remove, postroom.LabelUnread)
}
