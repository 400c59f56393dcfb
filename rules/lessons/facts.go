package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
)

const (
	// learnedFrom is how old the mail may be that teaches.
	learnedFrom = 365 * 24 * time.Hour
	// leftFor is how long mail has been in the inbox, read, before that says that it was to stay there.
	leftFor = 14 * 24 * time.Hour
	// tried is how old the mail may be that a rule is tried on.
	tried = 90 * 24 * time.Hour
)

// Facts returns what the corrections of an account say of its mail, and how many of them were left out because they
// were made in bulk. Mail of the same domains and lists that was read and left in the inbox, and received after the
// oldest such mail that the person has sorted, says that it was to stay there.
func (s *Store) Facts(ctx context.Context, account Account, now time.Time) (facts []learn.Fact, bulk int, err error) {
	since := now.Add(-learnedFrom)
	votes, bulk, err := s.votes(ctx, account.ID, since)
	if err != nil || len(votes) == 0 {
		return nil, bulk, err
	}
	sorts := begun{}
	for id, v := range votes {
		msg, err := s.cfg.Mail.Message(ctx, account.ID, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue // it is gone, and teaches nothing any more
		}
		if err != nil {
			return nil, bulk, fmt.Errorf("lessons: read message %s: %w", id, err)
		}
		if !v.votes || msg.ReceivedAt.Before(since) {
			continue
		}
		f := learn.FactOf(msg)
		f.Vote = v.act
		facts = append(facts, f)
		sorts.note(&f)
	}
	for msg, err := range s.cfg.Mail.Messages(ctx, account.ID, since) {
		if err != nil {
			return nil, bulk, fmt.Errorf("lessons: read the mail of account %s: %w", account.ID, err)
		}
		if _, corrected := votes[msg.ID]; corrected || !wasLeft(msg, now) {
			continue
		}
		if f := learn.FactOf(msg); sorts.has(&f) {
			facts = append(facts, f)
		}
	}
	return facts, bulk, nil
}

// begun is when the first mail was received that a person has sorted, by the domains of senders and by lists.
type begun map[string]time.Time

func keysOf(f *learn.Fact) []string {
	keys := []string{rules.DomainOf(f.From)}
	if f.ListID != "" {
		keys = append(keys, "list "+f.ListID)
	}
	return keys
}

func (b begun) note(f *learn.Fact) {
	for _, key := range keysOf(f) {
		if first, ok := b[key]; !ok || f.At.Before(first) {
			b[key] = f.At
		}
	}
}

func (b begun) has(f *learn.Fact) bool {
	return slices.ContainsFunc(keysOf(f), func(key string) bool {
		first, ok := b[key]
		return ok && f.At.After(first)
	})
}

// wasLeft reports whether mail was read, and has been left in the inbox without a label for some time.
func wasLeft(msg *postroom.Message, now time.Time) bool {
	return msg.HasLabel(postroom.LabelInbox) && !msg.HasLabel(postroom.LabelUnread) &&
		!msg.HasLabel(postroom.LabelStarred) && !slices.ContainsFunc(msg.LabelIDs, rules.IsLabelID) &&
		now.Sub(msg.ReceivedAt) >= leftFor
}

// votes returns the vote of each message with corrections that count: that of the last.
func (s *Store) votes(ctx context.Context, accountID string, since time.Time) (votes map[string]vote, bulk int,
	err error) {
	rows, err := s.feedback(ctx, accountID, since)
	if err != nil {
		return nil, 0, err
	}
	atOnce := unanswered(rows)
	votes = map[string]vote{}
	left := map[string]learn.Act{} // what the corrections that were left out have said last
	for i := range rows {
		r := &rows[i]
		if atOnce[r.ID] || r.Counted == countsNot {
			votes[r.MessageID], left[r.MessageID] = vote{}, r.final()
			continue
		}
		if was, ok := left[r.MessageID]; ok && r.repeats(was) {
			continue
		}
		delete(left, r.MessageID)
		votes[r.MessageID] = vote{r.final(), r.Votes == 1}
	}
	return votes, len(atOnce), nil
}

// repeats reports whether a correction has its act, or the label of it, from the one before, and says nothing of it.
// That cannot be told of one who says the same again by hand: it says nothing either, which teaches nothing wrong.
func (r *feedbackRow) repeats(was learn.Act) bool {
	if (r.Kind == Approved || r.Kind == Redone) && r.FinalAction == r.ProposedAction && r.FinalLabel == r.ProposedLabel {
		return false
	}
	return r.final() == was || was.Label != "" && r.FinalLabel == was.Label
}
