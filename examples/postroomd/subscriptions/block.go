package subscriptions

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// away are the actions of rules that keep mail out of the inbox.
var away = []postroom.ActionType{postroom.Archive, postroom.Trash, postroom.Move}

// blocked returns the names of the rules that keep all mail of a sender or a list away, by that.
func blocked(ctx context.Context, h *app.App, accountID string) (map[string]string, error) {
	list, err := h.Rules.ListOf(ctx, accountID)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for i := range list {
		r := &list[i]
		if !alwaysAway(r) {
			continue
		}
		switch r.Condition.Type {
		case rules.SenderEmail:
			found[mailname.Address(r.Condition.Value)] = r.Name
		case rules.ListID:
			found[strings.ToLower(r.Condition.Value)] = r.Name
		}
	}
	return found, nil
}

// alwaysAway reports whether a rule keeps mail away at any time, without leaving it to later rules, and by the whole
// value of its condition.
func alwaysAway(r *rules.Rule) bool {
	s := &r.Schedule
	atAnyTime := s.From == "" && s.Until == "" && s.LabelOnlyUntil == "" && len(s.Times)+len(s.Weekdays) == 0
	return r.Enabled && !r.Continue && atAnyTime && slices.Contains(away, r.Action) &&
		(r.Condition.Match == "" || r.Condition.Match == rules.Is)
}

// A List is what [Block] keeps away.
type List struct {
	Sender string
	ID     string // its List-Id; empty: the only one that mail of the sender names, or else the sender
}

// Block writes a rule that archives the mail of a list from now on, or of a sender without one, and returns its name.
// It is the rule that a person would make from the newest message of the list. If there is one by now, its name is
// returned.
func Block(ctx context.Context, h *app.App, account mailstore.Account, list List, by string) (rule string, err error) {
	if err := Check(h); err != nil {
		return "", err
	}
	message, err := newestOf(ctx, h, account, list)
	if err != nil {
		return "", err
	}
	there, err := blocked(ctx, h, account.ID)
	if err != nil {
		return "", err
	}
	if of := (&known{blocked: there}).blocks(mailname.Address(message.From.Email), listOf(message)); of != "" {
		return of, nil
	}
	return writeBlock(ctx, h, account, message, by)
}

// writeBlock writes the rule about mail like a message.
func writeBlock(ctx context.Context, h *app.App, account mailstore.Account, message *postroom.Message, by string) (
	rule string, err error) {
	text, err := h.RuleEditor.Text(ctx, account.ID)
	if err != nil {
		return "", err
	}
	path, err := h.RuleEditor.Path(ctx, account.ID)
	if err != nil {
		return "", err
	}
	file, err := h.RuleEditor.Written(path, text)
	if err != nil {
		return "", err
	}
	now, err := h.Engine.Explain(ctx, message)
	if err != nil {
		return "", err
	}
	order := ruledraft.Order{Action: postroom.Archive, Decider: ruledraft.DeciderOf(now)}
	made, err := ruledraft.Of(message, order, file.Rules)
	if err != nil {
		return "", err
	}
	made.Continue = false // what is kept away is kept from the other rules too
	readers, err := h.RuleEditor.Readers(ctx, account.ID)
	if err != nil {
		return "", err
	}
	if len(readers) > 1 { // the word is about one mailbox
		made.Scope, made.ScopeRef = rules.ScopeAccount, account.Email
	}
	revised, err := file.Revise(rulesfile.Revision{Rules: []rules.Rule{made}}, h.RuleEditor.Options(path)...)
	if err != nil {
		return "", usage.Wrap(err)
	}
	_, err = h.RuleEditor.Save(ctx, account.ID, by, text, revised)
	return made.Name, err
}

// newestOf returns the newest message of a list among the newest of its sender. Where the sender's mail is not of one
// list, a rule made from any of it could keep away what nobody meant, such as the confirmation of an order.
func newestOf(ctx context.Context, h *app.App, account mailstore.Account, list List) (*postroom.Message, error) {
	messages, err := newestFrom(ctx, h, account.ID, list.Sender, time.Time{}, searched)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, noMailFrom(account, list.Sender)
	}
	id := strings.ToLower(list.ID)
	var ids []string
	for _, m := range messages {
		of := listOf(m)
		if id != "" && of == id {
			return m, nil
		}
		if !slices.Contains(ids, of) {
			ids = append(ids, of)
		}
	}
	switch {
	case id != "":
		return nil, usage.Errorf("The newest %d messages from %s have none of the list %s: write a rule yourself.", searched,
			list.Sender, list.ID)
	case len(ids) > 1:
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
		return nil, usage.Errorf("Not all mail from %s is of one list: name the list (%s), or write a rule yourself.",
			list.Sender, strings.Join(ids, ", "))
	}
	return messages[0], nil
}

func noMailFrom(account mailstore.Account, sender string) error {
	return usage.Errorf("%s has no mail from %s outside the spam and the trash.", account.Email, sender)
}
