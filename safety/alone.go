package safety

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/injection"
)

// modelAlone are the kinds that a model may carry out alone by default: all leave the message in the mailbox and can be undone
// exactly.
var modelAlone = []postroom.ActionType{
	postroom.None, postroom.ApplyLabel, postroom.RemoveLabel, postroom.MarkRead, postroom.MarkUnread, postroom.Star, postroom.Unstar,
	postroom.Archive, postroom.Move, postroom.Snooze, postroom.Trash, postroom.Restore,
}

// modelDoubts are the reasons to ask a person about a model's decision. found are the indicators of an attack in the message.
func (l *Ledger) modelDoubts(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, found []injection.Indicator,
) ([]Doubt, error) {
	if d.Action == postroom.None || l.cfg.Kinds.Check(d.Action, d.Parameters, queue.Now(tx)) != nil {
		return nil, nil //nolint:nilerr // what cannot be carried out does nothing
	}
	doubts, err := l.capabilityDoubts(ctx, msg, d)
	if err != nil {
		return nil, err
	}
	doubts = append(l.gate.aloneDoubts(d), doubts...)
	if msg == nil {
		return doubts, nil
	}
	for _, i := range found {
		doubts = append(doubts, Doubt{Override(i.Kind), i.Reason})
	}
	if len(doubts) > 0 || !slices.Contains(l.gate.hiding(), d.Action) {
		return doubts, nil // a decision that waits anyway does not use up the share
	}
	doubt, err := l.shareDoubt(ctx, tx, msg.AccountID)
	if err != nil || doubt == nil {
		return nil, err
	}
	return []Doubt{*doubt}, nil
}

// aloneDoubts asks about an action that models may not carry out alone.
func (g *Gate) aloneDoubts(d postroom.Decision) []Doubt {
	kind, ok := g.kinds.Kind(d.Action)
	switch {
	case !ok || kind.Danger == postroom.Dangerous:
		return nil // the check of danger asks
	case !slices.Contains(g.policy.ModelUnattended, d.Action):
		return []Doubt{{OverrideModel, fmt.Sprintf("a model does not %s alone", strings.ReplaceAll(string(d.Action), "_", " "))}}
	case kind.Effect == nil:
		return nil
	}
	if label := wrongPlace(d.Action, kind.Effect(d.Parameters).Change); label != "" {
		return []Doubt{{OverrideModel, fmt.Sprintf("a model does not change %s alone", label)}}
	}
	return nil
}

// wrongPlace returns the system label inbox, trash or spam if the action adds or removes it as a label. Archive, trash and spam
// have actions of their own, which are counted. Nothing may take a message out of spam.
func wrongPlace(action postroom.ActionType, change postroom.LabelChange) string {
	for _, place := range []string{postroom.LabelInbox, postroom.LabelTrash, postroom.LabelSpam} {
		moves := action == postroom.Move || action == postroom.Snooze
		named := action == postroom.ApplyLabel || action == postroom.RemoveLabel || moves && place != postroom.LabelInbox
		touches := func(label string) bool { return strings.EqualFold(label, place) }
		if (named || place == postroom.LabelSpam) && (slices.ContainsFunc(change.Add, touches) || slices.ContainsFunc(change.Remove, touches)) {
			return place
		}
	}
	return ""
}

// hiding are the kinds that models may carry out alone and that take a message out of the inbox, and the host's own kinds, which
// may do so.
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

// shareDoubt asks a person when models have used up their share of the account's messages within the window.
func (l *Ledger) shareDoubt(ctx context.Context, tx queue.Tx, accountID string) (*Doubt, error) {
	if err := l.lockCount(ctx, tx, accountID); err != nil {
		return nil, err
	}
	query, args, err := sqlx.In(countByModels, l.gate.hiding(), accountID, dbtime.Of(queue.Now(tx).Add(-shareWindow)))
	if err != nil {
		return nil, fmt.Errorf("safety: count what models have done: %w", err)
	}
	var n struct {
		Decided int `db:"decided"`
		Taken   int `db:"taken"`
	}
	if err := dbquery.Get(ctx, tx, &n, sqlx.Rebind(sqlx.DOLLAR, query), args...); err != nil {
		return nil, fmt.Errorf("safety: count what models have done: %w", err)
	}
	if allowed := max(l.gate.policy.ModelFree, int(l.gate.policy.ModelShare*float64(n.Decided))); n.Taken < allowed {
		return nil, nil
	}
	return &Doubt{OverrideShare, fmt.Sprintf("models have taken %d of %d messages out of the inbox within a day", n.Taken, n.Decided)}, nil
}
