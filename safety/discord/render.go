package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// A request is everything that a message shows.
type request struct {
	approval safety.Approval
	action   postroom.Action
	decision safety.DecisionRecord
	summary  string
	content  Content // if it waits
	expired  bool
	void     bool             // if it waits: it can only be rejected, or asked again
	altered  bool             // if it waits: the request, the action or the decision was altered
	others   []safety.Waiting // which the same answer is for
	listed   []string         // what the message shows of them, a line each; there may be more of them
}

// mayApproveAll reports whether the requests can be approved together: all are shown, and none sends anything,
// or cannot be undone.
func (r *request) mayApproveAll() bool {
	if len(r.others) == 0 {
		return true
	}
	harmless := func(a *postroom.Action) bool {
		kind, ok := postroom.StandardKind(a.Type)
		return ok && kind.Danger != postroom.Dangerous
	}
	allListed := len(r.others) == len(r.listed)
	return allListed && harmless(&r.action) && !slices.ContainsFunc(r.others, func(w safety.Waiting) bool {
		return w.Fault != nil || !harmless(&w.Action)
	})
}

// mostListed is how many of the other requests the message shows, and inField how many fit into one field of it.
const (
	mostListed = 10
	inField    = 5
)

// line describes one of the other requests.
func (b *Bot) line(ctx context.Context, w *safety.Waiting) (string, error) {
	summary, err := b.cfg.Summarize(ctx, w.Action)
	return code(summary, 80) + " from " + code(w.Decision.Sender, 50) + ": " + code(w.Decision.Subject, 40), err
}

// list calls add with the names and the texts of the fields that list the other requests.
func (r *request) list(add func(name, value string)) {
	if len(r.others) == 0 {
		return
	}
	name := fmt.Sprintf("With %d more, which the answer is for as well", len(r.others))
	more := len(r.others) - len(r.listed)
	for i := 0; i < len(r.listed); i += inField {
		end := min(i+inField, len(r.listed))
		text := strings.Join(r.listed[i:end], "\n")
		if end == len(r.listed) && more > 0 {
			text += fmt.Sprintf("\nand %d more: they can be rejected here, and approved one by one elsewhere", more)
		}
		add(name, text)
		name = "And"
	}
}

func (r *request) waits() bool { return r.approval.Outcome == safety.OutcomeWaiting && !r.expired }

// The colors of embeds.
const (
	amber = 0xF0A030
	green = 0x2E9E5B
	red   = 0xC0392B
	gray  = 0x7F8C8D
)

func (r *request) title() (title string, color int) {
	switch {
	case r.waits():
		return "Approval requested", amber
	case r.expired:
		return "Expired", gray
	case r.approval.Outcome == safety.OutcomeApproved:
		return "Approved", green
	case r.approval.Outcome == safety.OutcomeRejected:
		return "Rejected", red
	}
	return "Withdrawn", gray
}

// outcome describes the outcome of the request, with the person and the time.
func (r *request) outcome() string {
	a := &r.approval
	if r.expired {
		return "Nobody answered until " + stamp(a.ExpiresAt, "f") + ". It can be asked again, or rejected."
	}
	s := string(a.Outcome)
	if a.Approver != "" {
		s += " by " + code(a.Approver, 100)
	}
	s += " " + stamp(a.DecidedAt, "f")
	if why := code(a.Why, 300); why != "" {
		s += ": " + why
	}
	return s
}

// stamp formats a time that everybody sees in their own zone.
func stamp(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

// summary describes an action in one line, for hosts without Summarize.
func summary(a postroom.Action) string {
	if len(a.Parameters) == 0 {
		return string(a.Type)
	}
	parameters, err := json.Marshal(a.Parameters)
	if err != nil {
		return string(a.Type)
	}
	return string(a.Type) + " " + string(parameters)
}

// decidedBy returns the rule's name, or the model, or the source.
func decidedBy(d postroom.Decision) string {
	switch {
	case d.RuleName != "":
		return "rule " + d.RuleName
	case d.Model != "":
		return "model " + d.Model
	}
	return string(d.Source)
}

// previewSize is the length of the content that the message shows. Show shows more.
const previewSize = 700

func (r *request) embed() *discordgo.MessageEmbed {
	title, color := r.title()
	e := &discordgo.MessageEmbed{Title: title, Color: color,
		Footer: &discordgo.MessageEmbedFooter{Text: "request " + r.approval.ID}}
	add := func(name, value string) {
		if value != "" {
			e.Fields = append(e.Fields, &discordgo.MessageEmbedField{Name: name, Value: value})
		}
	}
	add("Action", code(r.summary, 400))
	add("From", code(r.decision.Sender, 200))
	add("Subject", code(r.decision.Subject, 300))
	add("Decided by", code(decidedBy(r.decision.Decision), 200))
	add("Because", code(r.decision.Decision.Rationale, 400))
	if !r.waits() {
		add("Outcome", r.outcome())
		return e
	}
	switch {
	case r.altered:
		add("Altered",
			"This is not what was asked: somebody has altered it in the database, and it may be about another message. It can only be rejected.")
	case r.void:
		add("Asked before",
			"The key has been changed since, or the log was accepted as it is: it must be asked again, or be rejected.")
	}
	add("Waits because", code(strings.Join(reasons.Plain(r.approval.Reasons), "; "), 600))
	add("Must not be sent", code(r.content.Refused, 400))
	add("Sends", block(r.content.Text, previewSize))
	r.list(add)
	add("Expires", stamp(r.approval.ExpiresAt, "R"))
	return e
}

// body returns the message about a request. A waiting request has buttons; a refused one has no button to approve it.
func (b *Bot) body(ctx context.Context, r *request, channel string) (*discordgo.MessageSend, error) {
	m := &discordgo.MessageSend{
		Embeds: []*discordgo.MessageEmbed{r.embed()}, Components: []discordgo.MessageComponent{},
		AllowedMentions: noMentions(),
	}
	if !r.waits() {
		return m, nil
	}
	var row discordgo.ActionsRow
	for _, each := range []struct {
		verb  verb
		label string
		style discordgo.ButtonStyle
	}{{approve, "Approve", discordgo.SuccessButton}, {reject, "Reject", discordgo.DangerButton},
		{show, "Show", discordgo.SecondaryButton}} {
		if each.verb == approve && (r.content.Refused != "" || r.altered || r.void || !r.mayApproveAll()) {
			continue
		}
		id, err := b.customID(ctx, each.verb, bundle(r.approval, r.others), channel)
		if err != nil {
			return nil, err
		}
		row.Components = append(row.Components, discordgo.Button{Label: each.label, Style: each.style, CustomID: id})
	}
	m.Components = append(m.Components, row)
	return m, nil
}

// noMentions keeps a message from notifying anybody.
func noMentions() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

// fingerprint identifies the content of a message.
func fingerprint(m *discordgo.MessageSend) (string, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("discord: encode a message: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12]), nil
}

// details returns the answer to Show: the parameters, and as much of the action's content as fits.
func (r *request) details() *discordgo.MessageEmbed {
	e := r.embed()
	e.Fields = e.Fields[:min(len(e.Fields), 5)] // the fields that identify the request
	parameters, err := json.MarshalIndent(r.action.Parameters, "", "  ")
	if err != nil {
		parameters = []byte(err.Error())
	}
	if len(r.action.Parameters) > 0 {
		e.Fields = append(e.Fields, &discordgo.MessageEmbedField{Name: "Parameters", Value: block(string(parameters), 1000)})
	}
	if r.content.Refused != "" {
		e.Fields = append(e.Fields, &discordgo.MessageEmbedField{Name: "Must not be sent",
			Value: code(r.content.Refused, 400)})
	}
	e.Description = block(r.content.Text, 2500)
	return e
}
