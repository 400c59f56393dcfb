package mcp

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// mostListed is how many actions, requests or rules one answer has.
const mostListed = 50

// An Action is what was done or is to be done with a message.
type Action struct {
	ID         string    `json:"id"`
	Mailbox    string    `json:"mailbox"`
	Action     string    `json:"action"          jsonschema:"the kind of action, with its label"`
	State      string    `json:"state"`
	By         string    `json:"by"              jsonschema:"the rule that decided, or what else did"`
	Why        string    `json:"why"`
	Confidence *float64  `json:"confidence"      jsonschema:"null when nobody decided"`
	Sender     string    `json:"sender"`
	Subject    string    `json:"subject"`
	DecidedAt  time.Time `json:"decided_at"`
	Error      string    `json:"error,omitempty"`
	Asks       []string  `json:"asks,omitempty"  jsonschema:"why a person is asked, or was"`
}

func (s *server) addRecordTools() {
	addTool(s, &sdk.Tool{Name: "explain", Title: "Explain",
		Description: "Tells why something was done with a message, or nothing: rules, model, gate and actions."}, s.explain)
	addTool(s, &sdk.Tool{Name: "actions_list", Title: "List actions",
		Description: "Lists what was done, or is to be done, newest first, at most 50."}, s.actions)
	addTool(s, &sdk.Tool{Name: "action_show", Title: "Show an action",
		Description: "Returns one action with its decision."}, s.action)
	addTool(s, &sdk.Tool{Name: "approvals_list", Title: "List what waits for approval",
		Description: "Lists the actions that wait for the approval of a person, who alone can give it."}, s.approvals)
	addTool(s, &sdk.Tool{Name: "rules_list", Title: "List rules",
		Description: "Lists the rules in the order in which they are tried, with their hits and undos of 30 days."}, s.rules)
}

type textOutput struct {
	Text string `json:"text"`
}

func (s *server) explain(ctx context.Context, c *call, in messageInput) (out textOutput, err error) {
	_, m, err := s.message(ctx, in)
	if err != nil {
		return out, err
	}
	if err := s.notice(ctx, c, m); err != nil {
		return out, err
	}
	x, err := view.NewExplanation(ctx, s.app, m)
	if err != nil {
		return out, err
	}
	var text bytes.Buffer
	r := printer.NewReport(&text)
	x.Print(r, false)
	err = r.Flush()
	return textOutput{marked(text.String())}, err
}

type actionsInput struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"only that of this address"`
	Message string `json:"message,omitempty" jsonschema:"only what was done with the message of this id"`
	State   string `json:"state,omitempty"   jsonschema:"such as completed, failed or pending_approval"`
	Rule    string `json:"rule,omitempty"    jsonschema:"only what this rule decided, by its name"`
	Sender  string `json:"sender,omitempty"  jsonschema:"only mail of this address or domain"`
	Days    int    `json:"days,omitempty"    jsonschema:"only the last days; left out: all"`
	Before  string `json:"before,omitempty"  jsonschema:"only what is older than the action of this id: the next page"`
}

type actionsOutput struct {
	Actions []Action `json:"actions"`
}

func (s *server) actions(ctx context.Context, c *call, in actionsInput) (out actionsOutput, err error) {
	filter := safety.Filter{Rule: in.Rule, Sender: in.Sender, Before: in.Before, Limit: mostListed}
	if in.Days < 0 {
		return out, usage.Errorf("days is %d; it must be at least 1, or left out", in.Days)
	}
	if in.Days > 0 {
		filter.Since = time.Now().AddDate(0, 0, -in.Days)
	}
	if in.State != "" {
		filter.States = []postroom.ActionState{postroom.ActionState(in.State)}
		if !slices.Contains(postroom.ActionStates(), filter.States[0]) {
			return out, usage.Errorf("state is %q; it must be one of %q", in.State, postroom.ActionStates())
		}
	}
	if err := s.restrict(ctx, &filter, in.Mailbox); err != nil {
		return out, err
	}
	if in.Message != "" {
		account, m, err := s.message(ctx, messageInput{in.Message, in.Mailbox})
		if err != nil {
			return out, err
		}
		filter.AccountID, filter.MessageID = account.ID, m.ID
	}
	if in.Before != "" {
		if filter.Before, err = s.actionID(ctx, in.Before); err != nil {
			return out, err
		}
	}
	entries, err := s.app.Ledger.Actions(ctx, filter)
	if err != nil {
		return out, err
	}
	out.Actions, err = s.newActions(ctx, c, entries)
	return out, err
}

type actionInput struct {
	ID string `json:"id" jsonschema:"id of an action"`
}

func (s *server) action(ctx context.Context, c *call, in actionInput) (out Action, err error) {
	id, err := s.actionID(ctx, in.ID)
	if err != nil {
		return out, err
	}
	a, err := s.app.Ledger.Action(ctx, id)
	if err != nil {
		return out, err
	}
	d, err := s.app.Ledger.Decision(ctx, a.DecisionID)
	if err != nil {
		return out, err
	}
	list, err := s.newActions(ctx, c, []safety.Entry{{Action: a, Decision: d}})
	if err != nil {
		return out, err
	}
	out = list[0]
	if a.State == postroom.ActionPendingApproval {
		w, err := s.app.Ledger.Waiting(ctx, id)
		out.Asks = reasons.Plain(w.Approval.Reasons)
		return out, err
	}
	return out, nil
}

// actionID completes the id of an action. A caller of some mailboxes gives it whole, of one of them: what a beginning
// could be would tell of the others.
func (s *server) actionID(ctx context.Context, typed string) (string, error) {
	if s.caller.Mailboxes == nil {
		return s.app.ResolveAction(ctx, typed)
	}
	a, err := s.app.Ledger.Action(ctx, typed)
	if err == nil {
		var account mailstore.Account
		if account, err = s.app.Mail.Account(ctx, a.AccountID); err == nil && s.mayName(account.Email) {
			return a.ID, nil
		}
	}
	if err == nil || errors.Is(err, postroom.ErrNotFound) {
		err = usage.Errorf("there is no action %s: write the whole id, as actions_list has it", typed)
	}
	return "", err
}

type approvalsInput struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"only that of this address"`
}

func (s *server) approvals(ctx context.Context, c *call, in approvalsInput) (out actionsOutput, err error) {
	filter := safety.Filter{Limit: mostListed}
	if err := s.restrict(ctx, &filter, in.Mailbox); err != nil {
		return out, err
	}
	waiting, err := s.app.Ledger.Approvals(ctx, filter)
	if err != nil {
		return out, err
	}
	out.Actions, err = s.newActions(ctx, c, printer.List(waiting, func(w safety.Waiting) safety.Entry { return w.Entry }))
	for i := range out.Actions {
		out.Actions[i].Asks = reasons.Plain(waiting[i].Approval.Reasons)
	}
	return out, err
}

// newActions shows actions, which have the sender and the subject of mail.
func (s *server) newActions(ctx context.Context, c *call, entries []safety.Entry) ([]Action, error) {
	for _, e := range entries {
		m, err := s.app.Mail.Message(ctx, e.Action.AccountID, e.Action.MessageID)
		if errors.Is(err, postroom.ErrNotFound) {
			c.untrusted, err = true, nil
		} else if err == nil {
			err = s.notice(ctx, c, m)
		}
		if err != nil {
			return nil, err
		}
	}
	names, err := s.app.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	accounts, err := s.app.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return printer.List(entries, func(e safety.Entry) Action {
		d := e.Decision.Decision
		return Action{ID: e.Action.ID, Mailbox: view.EmailOf(accounts, e.Action.AccountID),
			Action: app.Describe(e.Action, names), State: e.Action.State.Words(), By: view.DecidedBy(d),
			Why: oneLine(d.Rationale, longestShort), Confidence: view.NewDecision(e.Decision, names).Confidence,
			Sender: e.Decision.Sender, Subject: oneLine(e.Decision.Subject, longestLine),
			DecidedAt: e.Decision.CreatedAt, Error: oneLine(e.Action.Error, longestShort),
			Asks: reasons.Plain(e.Decision.Verdict.Reasons)}
	}), nil
}

// A Rule is a rule of the user, with what it has done lately.
type Rule struct {
	Name    string   `json:"name"`
	Mailbox string   `json:"mailbox,omitempty" jsonschema:"absent: the rule is for all"`
	Enabled bool     `json:"enabled"`
	When    string   `json:"when"`
	Actions []string `json:"actions"`
	Hits    int      `json:"hits_30_days"      jsonschema:"how many decisions it has made"`
	Undone  int      `json:"undone_30_days"    jsonschema:"how many of its actions were taken back"`
}

type rulesOutput struct {
	Rules []Rule `json:"rules"`
}

func (s *server) rules(ctx context.Context, _ *call, _ struct{}) (out rulesOutput, err error) {
	mine, err := s.accounts(ctx)
	if err != nil {
		return out, err
	}
	listed, err := view.NewRules(ctx, s.app, "", mine, time.Now())
	if err != nil {
		return out, err
	}
	names, err := s.app.LabelNames(ctx)
	if err != nil {
		return out, err
	}
	out.Rules = []Rule{}
	for _, r := range listed {
		if r.AccountID != "" && !s.mayName(r.Mailbox) {
			continue
		}
		v := Rule{Name: r.Name, Mailbox: r.Mailbox, Enabled: r.Enabled, When: oneLine(r.When, 2*longestShort),
			Hits: r.Hits, Undone: r.Undone}
		for _, a := range r.Actions() {
			v.Actions = append(v.Actions, app.Describe(postroom.Action{Type: a.Type, Parameters: a.Parameters,
				AccountID: r.AccountID}, names))
		}
		if r.Begins != "" {
			v.Actions = append(v.Actions, r.Begins)
		}
		out.Rules = append(out.Rules, v)
	}
	return out, nil
}
