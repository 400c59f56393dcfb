package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// pressTimeout bounds the handling of one press. Discord accepts answers for 15 minutes.
const pressTimeout = 2 * time.Minute

// The answers to a person who presses a button.
const (
	saidUnlisted = "You are not on the list of those who decide here. Nothing was done."
	saidTampered = "It is not what was asked: the action, its decision or the request was altered in the database. Nothing was done; it can be rejected."
	saidStale    = "This button is not one of the request as it is now. Nothing was done; the message is being brought up to date."
	saidEdited   = "It was edited since: look again. Nothing was done; the message is being brought up to date."
	saidEarly    = "The message was posted only just now. Nothing was done; press again in a moment."
	saidFailed   = "That did not work, and nothing was done. Press again in a moment."
	saidApproved = "Approved. It is being carried out."
	saidRejected = "Rejected. It is not done."
)

// A reply is the answer that the person who pressed sees.
type reply struct {
	text  string
	embed *discordgo.MessageEmbed
}

// press answers one interaction in time. If the answer takes longer, it announces the answer first.
func (b *Bot) press(ctx context.Context, s *discordgo.Session, i *discordgo.Interaction, pressed button) {
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	done := make(chan reply, 1)
	go func() { done <- b.handle(ctx, i, pressed) }()
	patience := time.NewTimer(b.cfg.DeferAfter)
	defer patience.Stop()
	select {
	case r := <-done:
		b.answered(ctx, "answer a press", s.InteractionRespond(i, r.now(), discordgo.WithContext(ctx)))
		return
	case <-patience.C:
	}
	later := &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}
	b.answered(ctx, "announce an answer", s.InteractionRespond(i, later, discordgo.WithContext(ctx)))
	r := <-done // handle ends with ctx
	_, err := s.InteractionResponseEdit(i, r.later(), discordgo.WithContext(ctx))
	b.answered(ctx, "answer a press", err)
}

// answered logs errors. It ignores an interaction that is over, or that another program with the same bot has
// answered: the message of the request shows its outcome.
func (b *Bot) answered(ctx context.Context, op string, err error) {
	if err = failed(op, err); err != nil && ctx.Err() == nil && !hasCode(err, codeAcknowledged, codeUnknownInteraction) {
		b.cfg.Logger.Warn("discord: a press is not answered", "error", err)
	}
}

func (r *reply) embeds() []*discordgo.MessageEmbed {
	if r.embed == nil {
		return []*discordgo.MessageEmbed{}
	}
	return []*discordgo.MessageEmbed{r.embed}
}

func (r *reply) now() *discordgo.InteractionResponse {
	return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{
			Content: r.text, Embeds: r.embeds(), AllowedMentions: noMentions(), Flags: discordgo.MessageFlagsEphemeral,
		}}
}

func (r *reply) later() *discordgo.WebhookEdit {
	embeds := r.embeds()
	return &discordgo.WebhookEdit{Content: &r.text, Embeds: &embeds, AllowedMentions: noMentions()}
}

// handle carries out the verb of the button, if the person may answer and the button is genuine.
func (b *Bot) handle(ctx context.Context, i *discordgo.Interaction, pressed button) reply {
	r, err := b.act(ctx, i, pressed)
	if err != nil && ctx.Err() == nil {
		b.cfg.Logger.Error("discord: a press failed", "request", pressed.approval, "error", err)
	}
	if err != nil {
		return reply{text: saidFailed}
	}
	return r
}

// presser returns the user who pressed: a member of the server, or a user in a direct message.
func presser(i *discordgo.Interaction) *discordgo.User {
	if i.Member != nil {
		return i.Member.User
	}
	return i.User
}

func (b *Bot) act(ctx context.Context, i *discordgo.Interaction, pressed button) (reply, error) {
	user := presser(i)
	if user == nil || user.Bot {
		return reply{text: saidUnlisted}, nil
	}
	person, listed, err := b.person(ctx, user.ID)
	if err != nil {
		return reply{}, err
	}
	if !listed {
		b.cfg.Logger.Warn("discord: a press of somebody who is not on the whitelist is refused", "user", user.ID, "request",
			pressed.approval)
		return reply{text: saidUnlisted}, nil
	}
	request, others, ok, err := b.shown(ctx, i, pressed)
	switch {
	case errors.Is(err, errNotRecorded):
		return reply{text: saidEarly}, nil
	case err != nil:
		return reply{}, err
	case !ok:
		b.cfg.Logger.Warn("discord: a press of a button that does not belong to its request is refused", "user", user.ID,
			"request", pressed.approval)
		return reply{text: saidStale}, b.refresh(ctx, request)
	case pressed.verb == show:
		return b.show(ctx, request)
	case pressed.verb == reject:
		return b.answer(ctx, request, others, person, safety.OutcomeRejected)
	}
	return b.approve(ctx, request, others, person)
}

// errNotRecorded is the error of a press on a message whose id Discord has assigned and the database does not have yet.
var errNotRecorded = errors.New("the message is not recorded yet")

// shown returns the request that the message shows, if it is unchanged. It returns false for a forged button, a
// button of another message, or a button of an earlier version of the request.
func (b *Bot) shown(ctx context.Context, i *discordgo.Interaction, pressed button) (request safety.Approval,
	others []safety.Waiting, ok bool, err error) {
	row, ok, err := b.message(ctx, b.cfg.DB.Reader(), pressed.approval)
	if err != nil || !ok {
		return request, nil, false, err
	}
	request, err = b.cfg.Ledger.Approval(ctx, row.ApprovalID)
	if errors.Is(err, postroom.ErrNotFound) {
		return request, nil, false, nil
	}
	if err == nil {
		others, err = b.together(ctx, request)
	}
	if err != nil {
		return request, nil, false, err
	}
	switch {
	case i.Message == nil || i.ChannelID != row.ChannelID:
		return request, nil, false, nil
	case row.MessageID == "":
		return request, nil, false, errNotRecorded
	case i.Message.ID != row.MessageID:
		return request, nil, false, nil
	}
	ok, err = b.genuine(ctx, pressed, bundle(request, others), row.ChannelID)
	return request, others, ok, err
}

// refresh updates the messages of the request's action. The request may not exist.
func (b *Bot) refresh(ctx context.Context, request safety.Approval) error {
	if request.ActionID == "" {
		return nil
	}
	_, err := b.cfg.Queue.Enqueue(ctx, NewNotifyJob(request.ActionID))
	return err
}

func (b *Bot) show(ctx context.Context, approval safety.Approval) (reply, error) {
	action, err := b.cfg.Ledger.Action(ctx, approval.ActionID)
	if err != nil {
		return reply{}, err
	}
	var content Content
	if action.State == postroom.ActionPendingApproval {
		if content, err = b.cfg.Compose(ctx, action); err != nil {
			return reply{}, err
		}
	}
	r, err := b.request(ctx, action, approval, content)
	return reply{embed: r.details()}, err
}

// approve composes the action's content, as before the request was shown: the approval covers its bytes.
func (b *Bot) approve(ctx context.Context, request safety.Approval, others []safety.Waiting,
	person Person) (reply, error) {
	action, err := b.cfg.Ledger.Action(ctx, request.ActionID)
	if err != nil {
		return reply{}, err
	}
	if action.State == postroom.ActionPendingApproval {
		content, err := b.cfg.Compose(ctx, action)
		if err != nil {
			return reply{}, err
		}
		if content.Refused != "" {
			return reply{text: "It must not be sent: " + code(content.Refused, 400) +
				". Nothing was done; it can be rejected."}, b.refresh(ctx, request)
		}
	}
	return b.answer(ctx, request, others, person, safety.OutcomeApproved)
}

// answer passes the person's answer to the ledger: to the request and to those of its group that it can be given to.
func (b *Bot) answer(ctx context.Context, request safety.Approval, others []safety.Waiting, person Person,
	outcome safety.Outcome) (reply, error) {
	requests := []safety.Approval{request}
	for i := range others {
		requests = append(requests, others[i].Approval)
	}
	var answered safety.Approval
	skipped := 0
	err := b.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		answered, skipped, err = b.answerAll(ctx, tx, requests, person, outcome)
		return err
	})
	said := reply{text: saidApproved}
	if outcome == safety.OutcomeRejected {
		said.text = saidRejected
	}
	if err == nil {
		said = b.outlook(ctx, answered, said)
		if skipped > 0 {
			said.text += fmt.Sprintf(" %d of %d can no longer be approved; nothing was done about them, and they can be rejected.",
				skipped, len(requests))
		}
		return said, nil
	}
	var late *safety.StateError
	if errors.As(err, &late) && late.Answer != nil && late.Answer.Approver == person.Name &&
		late.Answer.Outcome == outcome &&
		slices.ContainsFunc(requests, func(r safety.Approval) bool { return r.ID == late.Answer.ID }) {
		return b.outlook(ctx, request, said), nil // the press came twice
	}
	if text := refused(err, late); text != "" {
		return reply{text: text}, b.refresh(ctx, request)
	}
	return reply{}, err
}

// answerAll gives the answer to the requests, the first last, since the ledger asks about the next of a group once its
// first is answered. It skips those that can no longer be approved, if others can, and returns one that is answered.
func (b *Bot) answerAll(ctx context.Context, tx queue.Tx, requests []safety.Approval, person Person,
	outcome safety.Outcome) (answered safety.Approval, skipped int, err error) {
	var refusal error
	for _, request := range slices.Backward(requests) {
		err := b.answerOne(ctx, tx, request, person, outcome)
		switch {
		case errors.Is(err, safety.ErrInvalidDecision) || errors.Is(err, safety.ErrApprovalExpired):
			refusal = err // nothing is written
			skipped++
		case err != nil:
			return answered, skipped, err
		default:
			answered = request
		}
	}
	if answered.ID == "" {
		return answered, skipped, refusal
	}
	return answered, skipped, nil
}

func (b *Bot) answerOne(ctx context.Context, tx queue.Tx, request safety.Approval, person Person,
	outcome safety.Outcome) (err error) {
	if outcome == safety.OutcomeApproved {
		_, err = b.cfg.Ledger.ApproveRequest(ctx, tx, request, person.Name)
	} else {
		_, err = b.cfg.Ledger.RejectRequest(ctx, tx, request, person.Name, "")
	}
	return err
}

// outlook describes the effect of an answer that counts: an approved action may have to wait.
func (b *Bot) outlook(ctx context.Context, request safety.Approval, said reply) reply {
	err := b.cfg.Ledger.HeldAction(ctx, request.ActionID)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case ok && held.Until.IsZero():
		said.text = "Approved. It is carried out later: " + code(held.Reason, 400) + "."
	case ok:
		said.text = "Approved. It is carried out " + stamp(held.Until, "R") + ": " + code(held.Reason, 400) + "."
	case err != nil:
		b.cfg.Logger.Warn("discord: it is not known whether an approved action may start", "action",
			request.ActionID, "error", err)
	}
	return said
}

// refused describes why an answer does not count; empty if the error has another reason.
func refused(err error, late *safety.StateError) string {
	switch {
	case errors.Is(err, safety.ErrNotApprover):
		return saidUnlisted
	case errors.Is(err, safety.ErrApprovalExpired):
		return "The request has expired. Nothing was done; it can be asked again, or rejected."
	case errors.Is(err, safety.ErrAltered):
		return saidTampered
	case errors.Is(err, safety.ErrEdited):
		return saidEdited
	case errors.Is(err, safety.ErrApprovalVoid):
		return saidStale
	case errors.Is(err, safety.ErrInvalidDecision):
		return "It can no longer be carried out: " + code(err.Error(), 400) + ". Nothing was done; it can be rejected."
	case late != nil && late.Answer != nil:
		return fmt.Sprintf("%s has %s it already, %s. Your answer was not needed.", code(late.Answer.Approver, 100),
			late.Answer.Outcome, stamp(late.Answer.DecidedAt, "R"))
	case late != nil:
		return "It does not wait any more: it is " + string(late.State) + ". Nothing was done."
	}
	return ""
}
