package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

const proposeTool = "action_propose"

// The bounds of proposals.
const (
	mostProposed      = 20  // a call
	mostProposedToday = 100 // a caller, within 24 hours
)

// kinds are the kinds of actions that can be proposed. None sends or deletes anything.
var kinds = []postroom.ActionType{
	postroom.ApplyLabel, postroom.RemoveLabel, postroom.Archive, postroom.MarkRead, postroom.MarkUnread, postroom.Star,
	postroom.Unstar, postroom.Snooze, postroom.Trash,
}

func (s *server) addProposals() {
	addTool(s, &sdk.Tool{Name: proposeTool, Title: "Propose an action",
		Description: "Proposes one kind of action for up to 20 messages: " + strings.Join(kindNames(), ", ") + ". " +
			"The safety gate judges each; the answer says whether it will be carried out, waits for a person, or was refused.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool)}}, s.propose)
}

func kindNames() []string {
	return printer.List(kinds, func(k postroom.ActionType) string { return string(k) })
}

type proposeInput struct {
	Messages []string `json:"messages"          jsonschema:"ids of 1 to 20 messages that this session has been shown"`
	Action   string   `json:"action"`
	Label    string   `json:"label,omitempty"   jsonschema:"for apply_label and remove_label: name of a label"`
	Until    string   `json:"until,omitempty"   jsonschema:"for snooze: when it comes back, such as 2026-12-24T08:00:00Z"`
	Why      string   `json:"why"               jsonschema:"the reason, for the user: 1 to 500 characters"`
	Mailbox  string   `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
}

type proposeOutput struct {
	Proposals []proposal `json:"proposals"`
}

type proposal struct {
	Message  string `json:"message"`
	ActionID string `json:"action_id"`
	State    string `json:"state"         jsonschema:"queued: it will be carried out"`
	Why      string `json:"why,omitempty" jsonschema:"why a person is asked, or it was refused"`
}

func (s *server) propose(ctx context.Context, c *call, in proposeInput) (out proposeOutput, err error) {
	account, err := s.account(ctx, in.Mailbox)
	if err != nil {
		return out, err
	}
	decision, err := s.decision(ctx, account.ID, in)
	if err != nil {
		return out, err
	}
	if err := decision.Validate(s.app.Ledger.Kinds(), time.Now()); err != nil {
		return out, usage.Wrap(err)
	}
	slices.Sort(in.Messages)
	in.Messages = slices.Compact(in.Messages)
	if n := len(in.Messages); n == 0 || n > mostProposed {
		return out, usage.Errorf("messages has %d ids; it must have 1 to %d", n, mostProposed)
	}
	messages := make([]*postroom.Message, len(in.Messages))
	for i, id := range in.Messages {
		if !s.wasShown(account.ID, id) {
			return out, usage.Errorf("messages: this session has not been shown a message %q: find it with mail_search", id)
		}
		if messages[i], err = s.app.FindMessage(ctx, account, id); err != nil {
			return out, err
		}
	}
	return s.recordAll(ctx, c, proposeTool, decision, messages)
}

var errNoReason = usage.Errorf("why is empty; give the user the reason")

// proposed makes the decision of this caller to do something.
func (s *server) proposed(action postroom.ActionType, why string) postroom.Decision {
	return postroom.Decision{Action: action, Source: postroom.SourceModel, Model: "mcp::" + s.caller.Name, Confidence: 1,
		Rationale: oneLine(why, longestShort), Parameters: postroom.Parameters{}}
}

// decision makes the decision of a proposal, without what is of one message.
func (s *server) decision(ctx context.Context, accountID string, in proposeInput) (d postroom.Decision, err error) {
	d = s.proposed(postroom.ActionType(in.Action), in.Why)
	if !slices.Contains(kinds, d.Action) {
		return d, usage.Errorf("action is %q; it must be one of %s", in.Action, strings.Join(kindNames(), ", "))
	}
	if d.Rationale == "" {
		return d, errNoReason
	}
	if in.Until != "" {
		d.Parameters["until"] = in.Until
	}
	if in.Label == "" {
		return d, nil
	}
	labels, err := s.app.Mail.Labels(ctx, accountID)
	if err != nil {
		return d, err
	}
	for _, l := range labels {
		if l.Name == in.Label && l.Type != postroom.LabelSystem { // an action stands for each of Gmail's own
			d.Parameters[postroom.ParamLabel] = l.ID
			return d, nil
		}
	}
	labels = slices.DeleteFunc(labels, func(l postroom.Label) bool { return l.Type == postroom.LabelSystem })
	return d, usage.Errorf("label: the mailbox has no label of its own %q; it has %q", in.Label,
		printer.List(labels, func(l postroom.Label) string { return l.Name }))
}

// recordAll records the decision about each message, and the call, in one transaction.
func (s *server) recordAll(ctx context.Context, c *call, tool string, d postroom.Decision,
	messages []*postroom.Message) (out proposeOutput, err error) {
	if d.ApprovalReason, err = s.distrusts(ctx, c, messages); err != nil {
		return out, err
	}
	d.NeedsApproval = d.ApprovalReason != ""
	if d.Key, err = uuid7.New(); err != nil {
		return out, err
	}
	d.Key = "mcp:" + d.Key
	records := make([]func(context.Context, queue.Tx) (postroom.Action, error), len(messages))
	for i, m := range messages {
		records[i] = s.app.Ledger.Record(ctx, m, d)
	}
	c.proposed = len(messages)
	err = s.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		today, err := s.lastDay(ctx, tx)
		if err != nil {
			return err
		}
		if left := mostProposedToday - today.Proposed; len(messages) > left {
			return usage.Errorf("%d messages are too many: %d of the %d proposals of 24 hours are left", len(messages),
				max(0, left), mostProposedToday)
		}
		out.Proposals = make([]proposal, len(messages))
		for i, record := range records {
			a, err := record(ctx, tx)
			if err != nil {
				return err
			}
			out.Proposals[i] = proposal{Message: messages[i].ProviderID, ActionID: a.ID, State: a.State.Words(), Why: a.Error}
		}
		return s.recordTx(ctx, tx, entry{call: *c, tool: tool})
	})
	if c.recorded = err == nil; err != nil {
		c.proposed = 0
		return proposeOutput{}, err
	}
	return out, s.addReasons(ctx, out.Proposals)
}

// distrusts returns why a person must look at a proposal about messages, and an empty string if nobody must. What the
// caller has read in another session counts for 24 hours, so that connecting again does not make it trusted.
func (s *server) distrusts(ctx context.Context, c *call, messages []*postroom.Message) (string, error) {
	const mail = " mail whose sender is not verified or not known, which may have told it to propose this"
	for _, m := range messages {
		if err := s.notice(ctx, c, m); err != nil {
			return "", err
		}
	}
	if c.untrusted {
		return "the assistant " + s.caller.Name + " names" + mail, nil
	}
	if !s.isTrusted() {
		return "the assistant " + s.caller.Name + " has read in this session" + mail, nil
	}
	today, err := s.lastDay(ctx, s.app.DB.Reader())
	if err != nil || today.Untrusted == 0 {
		return "", err
	}
	return "the assistant " + s.caller.Name + " has read within 24 hours" + mail, nil
}

// addReasons adds why a person is asked.
func (s *server) addReasons(ctx context.Context, proposals []proposal) error {
	for i := range proposals {
		if proposals[i].State != postroom.ActionPendingApproval.Words() {
			continue
		}
		w, err := s.app.Ledger.Waiting(ctx, proposals[i].ActionID)
		if _, answered := errors.AsType[*safety.StateError](err); err != nil && !answered {
			return err
		}
		proposals[i].Why = strings.Join(reasons.Plain(w.Approval.Reasons), "; ")
	}
	return nil
}
