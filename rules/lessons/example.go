package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
)

// An Example is a correction of a decision about earlier mail of a sender, for the prompt of a model that decides about
// other mail of it. All but the Subject is in our words and the names of labels.
type Example struct {
	Proposed string // what was decided: "archive", "move (label Receipts)", or "none"
	Person   string // what the person made of it: "took it back"
	Subject  string // of the message; empty if it names another writer, who shares the address
}

const (
	maxExamples = 10
	exampleRows = 500 // corrections of an account that are looked at, the newest
	exampleRead = 100 // messages of the sender that are read
	fromAtOnce  = 100
)

// Examples returns at most ten corrections of what models have decided about earlier mail of the sender of a message,
// or have left alone, the newest first: those of the same list if there are any, and else those of all mail of the
// sender.
//
// The sender is the whole address, which Gmail must have verified for both messages. Neither the domain nor the list
// is enough: their other writers would have their words in the prompt that decides about this mail, and everybody can
// claim a List-Id. Services and groups send the mail of many people from one address: of mail under another name the
// subject is left out. Corrections in bulk that nobody has answered for are none, nor is one of mail that is gone.
func (s *Store) Examples(ctx context.Context, msg *postroom.Message) ([]Example, error) {
	self := learn.FactOf(msg)
	if self.From == "" || !self.Authenticated {
		return nil, nil
	}
	rows, err := s.exampleRows(ctx, msg)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if rows, err = s.ofSender(ctx, msg.AccountID, self.From, rows); err != nil {
		return nil, err
	}
	names, err := s.labelNames(ctx, msg.AccountID)
	if err != nil {
		return nil, err
	}
	var sameList, others []Example
	for i := range rows[:min(len(rows), exampleRead)] {
		if len(sameList) == maxExamples {
			break
		}
		earlier, err := s.cfg.Mail.Message(ctx, msg.AccountID, rows[i].MessageID)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("lessons: read message %s: %w", rows[i].MessageID, err)
		}
		f := learn.FactOf(earlier)
		example, ok := rows[i].example(names)
		if !ok || !f.Authenticated || f.From != self.From {
			continue
		}
		if sameName(msg.From, earlier.From) {
			example.Subject = earlier.Subject
		}
		if f.ListID == self.ListID {
			sameList = append(sameList, example)
		} else {
			others = append(others, example)
		}
	}
	if len(sameList) > 0 {
		return sameList, nil
	}
	return others[:min(len(others), maxExamples)], nil
}

func sameName(a, b postroom.Address) bool {
	return strings.EqualFold(strings.TrimSpace(a.Name), strings.TrimSpace(b.Name))
}

// exampleRows returns the last correction that counts of each other message which a model has decided about or nobody
// has, the newest first.
func (s *Store) exampleRows(ctx context.Context, msg *postroom.Message) (list []feedbackRow, err error) {
	var rows []feedbackRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlListFeedback, msg.AccountID, exampleRows); err != nil {
		return nil, fmt.Errorf("lessons: read the corrections of account %s: %w", msg.AccountID, err)
	}
	slices.Reverse(rows)
	atOnce, oldest := unanswered(rows), 0
	if len(rows) == exampleRows { // whether the first were made in bulk cannot be told without those before them
		begin := rows[0].CreatedAt.Add(bulkWithin)
		for oldest < len(rows) && !rows[oldest].CreatedAt.After(begin) {
			oldest++
		}
	}
	seen := map[string]bool{msg.ID: true}
	for _, r := range slices.Backward(rows[oldest:]) {
		byModel := r.Source == postroom.SourceModel || r.ActionID == ""
		if !seen[r.MessageID] && byModel && r.Counted != countsNot && !atOnce[r.ID] {
			seen[r.MessageID] = true
			list = append(list, r)
		}
	}
	return list, nil
}

// ofSender returns those of the corrections that are about mail from an address; whether that is verified is not
// looked at.
func (s *Store) ofSender(ctx context.Context, accountID, address string, rows []feedbackRow) ([]feedbackRow, error) {
	if s.cfg.From == nil {
		return rows, nil
	}
	var of []feedbackRow
	for chunk := range slices.Chunk(rows, fromAtOnce) {
		ids := make([]string, len(chunk))
		for i := range chunk {
			ids[i] = chunk[i].MessageID
		}
		from, err := s.cfg.From(ctx, accountID, ids)
		if err != nil {
			return nil, fmt.Errorf("lessons: read the senders of corrected mail of account %s: %w", accountID, err)
		}
		for i := range chunk {
			if mailname.Address(from[chunk[i].MessageID]) == address {
				of = append(of, chunk[i])
			}
		}
	}
	return of, nil
}

// labelNames are the names of the labels of an account, by their ids.
func (s *Store) labelNames(ctx context.Context, accountID string) (map[string]string, error) {
	labels, err := s.cfg.Labels(ctx, accountID)
	if err != nil {
		return nil, fmt.Errorf("lessons: read the labels of account %s: %w", accountID, err)
	}
	names := make(map[string]string, len(labels))
	for _, l := range labels {
		names[l.ID] = l.Name
	}
	return names, nil
}

// example returns the example of a correction, without its subject; false for one that says nothing, or names a label
// that is gone.
func (r *feedbackRow) example(names map[string]string) (e Example, ok bool) {
	if e.Proposed, ok = actText(learn.Act{Action: r.ProposedAction, Label: r.ProposedLabel}, names); !ok {
		return e, false
	}
	final, known := actText(r.final(), names)
	wanted := r.Votes == 1 && known && r.FinalAction != ""
	switch {
	case r.Kind == Approved:
		e.Person = "approved it"
	case r.Kind == Rejected:
		e.Person = "rejected it"
	case r.Kind == Undone:
		e.Person = "took it back"
	case r.Kind == Redone:
		e.Person = "had it done again"
	case r.Kind == Chosen && wanted:
		e.Person = "chose in its place: " + final
	case r.Kind == Edited:
		return e, false
	case r.Says == Wrong && wanted:
		e.Person = "changed that to: " + final
	case r.Says == Wrong:
		e.Person = "changed it back"
	case wanted:
		e.Person = "then did by hand: " + final
	case r.Votes == 1 && r.FinalAction == "":
		e.Person = "wanted it left as it was"
	default:
		return e, false
	}
	return e, true
}

// actText returns an act as the model names it, and false if its label is gone.
func actText(a learn.Act, names map[string]string) (string, bool) {
	if a.Action == "" {
		return string(postroom.None), true
	}
	if a.Label == "" {
		return string(a.Action), true
	}
	name, known := names[a.Label]
	if !known {
		name = a.Label
	}
	return fmt.Sprintf("%s (label %s)", a.Action, name), known || !rules.IsLabelID(a.Label)
}
