package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/examples/postroomd/notify/when"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/webhook"
)

// digestTime is when there is a digest; false if there is none.
func (h *App) digestTime() (when.Time, bool) {
	at, err := when.Parse(h.Env.Config.Notify.Digest)
	return at, err == nil
}

// digests returns the schedule of the digest, if there is one.
func (h *App) digests() ([]queue.Schedule, error) {
	at, ok := h.digestTime()
	if !ok {
		return nil, nil
	}
	if h.Zone() == when.LocalZone {
		return nil, usage.Errorf("notify.digest: this machine does not say the name of its time zone; write it, such as " +
			"notify.zone = \"Europe/Berlin\"")
	}
	return []queue.Schedule{{Name: digestSchedule, Cron: at.Cron(), Zone: h.Zone(), Job: notify.NewDigestJob("")}}, nil
}

// Zone is the name of the time zone of the owner, which is that of this machine if the configuration says none.
func (h *App) Zone() string { return cmp.Or(h.Env.Config.Notify.Zone, when.MachineZone()) }

// OwnZone is the time zone of the owner.
func (h *App) OwnZone() *time.Location {
	if zone, err := time.LoadLocation(h.Zone()); err == nil {
		return zone
	}
	return time.Local
}

func (h *App) digestConfig() notify.DigestConfig {
	at, _ := h.digestTime()
	c := notify.DigestConfig{Compose: h.ComposeDigest, Period: at.Period(), Zone: h.OwnZone(), Mail: h.Mail,
		Clients: h.Clients}
	for _, to := range h.Env.Config.Notify.DigestTo {
		switch {
		case to == config.ToMailbox:
			c.Mailbox = true
		case to == config.ToDiscord && h.Env.AsksDiscord():
			c.Doors = append(c.Doors, tellDiscord)
		case to == config.ToWebhook && h.Env.Config.Webhook.URL != "":
			c.Doors = append(c.Doors, tellWebhook)
		case to == config.ToNtfy && h.ntfy != nil:
			c.Doors = append(c.Doors, notify.NtfyJobs)
		}
	}
	return c
}

// readNotice reads the words of a digest, and of what an agent tells, of which jobs hold none.
func (h *App) readNotice(ctx context.Context, n notify.Notice) (notify.Notice, error) {
	switch {
	case n.Text != "" || n.Kind != notify.OfDigest && n.Kind != notify.AgentTold:
		return n, nil
	case n.Kind == notify.AgentTold:
		r, err := h.Agents.Agent.Run(ctx, n.Subject)
		n.Title = "From the agent " + r.Profile
		for line := range strings.Lines(r.Output()) {
			n.Text += notify.Unlinked(line) + "\n"
		}
		return n, err
	}
	d, err := h.digestConfig().Digest(ctx, n.Subject)
	if err == nil {
		n.Title, n.Text = d.Title(), d.Text()
	}
	return n, err
}

func (h *App) readWebhookNotice(ctx context.Context, n webhook.Notice) (webhook.Notice, error) {
	read, err := h.readNotice(ctx, notify.Notice{Kind: notify.Kind(n.Kind), Subject: n.Subject})
	n.Title, n.Text = read.Title, read.Text
	return n, err
}

func (h *App) readDiscordNotice(ctx context.Context, about string) (string, error) {
	kind, subject, _ := strings.Cut(about, ":")
	n, err := h.readNotice(ctx, notify.Notice{Kind: notify.Kind(kind), Subject: subject})
	all := "postroomd digest"
	if n.Kind == notify.AgentTold {
		all = "postroomd agents show " + n.Subject
	}
	return inBlock(n, all), err
}

// whatWaits is what a schedule of an agent tells of: what came and was done in a mailbox of late, what waits there, and
// what is to be done.
func (h *App) whatWaits(ctx context.Context, inv agent.Invocation) (string, error) {
	since, err := agents.Since(inv)
	if err != nil {
		return "", err
	}
	a, err := h.Mail.Account(ctx, inv.UserID)
	if errors.Is(err, postroom.ErrNotFound) {
		return "", queue.Cancel(fmt.Errorf("the mailbox of schedule %s was removed: %w", inv.ID, err))
	}
	if err != nil {
		return "", err
	}
	now := time.Now().In(h.OwnZone())
	d, err := h.ComposeDigest(ctx, []mailstore.Account{a}, now.Add(-since), now)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(d.Text())
	open, err := h.Tasks.List(ctx, tasks.Filter{AccountID: a.ID, OpenOnly: true, Limit: mostToDo})
	for i := range open {
		text.WriteString("\nTask: " + notify.Plain(open[i].Title) + due(open[i].Due.In(now.Location())))
	}
	if err != nil {
		return "", err
	}
	coming, err := h.Reminders.List(ctx, reminders.Filter{UserID: a.ID, Open: true, Limit: mostToDo})
	for i := range coming {
		if r := &coming[i]; !r.Next.IsZero() {
			text.WriteString("\nReminder: " + notify.Plain(r.Title) + due(r.Next.In(now.Location())))
		}
	}
	return text.String(), err
}

// mostToDo bounds the tasks, and the reminders, that an agent tells of.
const mostToDo = 20

func due(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", " + at.Format("Mon 2 Jan 15:04")
}

// inBlock shows a digest at Discord as it is, without its markup, as far as there is room; all is the command that
// shows the rest.
func inBlock(n notify.Notice, all string) string {
	const room = 1900
	rest := "\n… '" + all + "' shows all of it"
	text := strings.ReplaceAll(n.Text, "`", "'")
	if runes := []rune(text); len(runes) > room {
		text = string(runes[:room])
		text = text[:max(strings.LastIndexByte(text, '\n'), 0)] + rest
	}
	return n.Title + "\n```text\n" + strings.TrimSuffix(text, "\n") + "\n```"
}

// SendDigest enqueues the digest of now, for all places of the configuration. The next one begins where it ends.
func (h *App) SendDigest(ctx context.Context, now time.Time) error {
	_, err := h.Queue.Enqueue(ctx, notify.NewDigestJob("by hand "+now.UTC().Format(time.RFC3339Nano)))
	return err
}

// NewDigest makes the digest of all mailboxes that would be sent now.
func (h *App) NewDigest(ctx context.Context, now time.Time) (*notify.Digest, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	last, err := notify.LastDigest(ctx, h.DB.Reader(), now)
	if err != nil {
		return nil, err
	}
	c := h.digestConfig()
	return h.ComposeDigest(ctx, accounts, notify.Since(last, now, c.Period).In(c.Zone), now.In(c.Zone))
}

// ComposeDigest makes the digest of mailboxes since an instant.
func (h *App) ComposeDigest(ctx context.Context, accounts []mailstore.Account, since,
	until time.Time) (*notify.Digest, error) {
	c := &composing{App: h, Digest: &notify.Digest{From: since, Until: until}, all: len(accounts) > 1}
	for i := range accounts {
		a := &accounts[i]
		c.Mailboxes = append(c.Mailboxes, a.Email)
		for _, part := range []func(context.Context, *mailstore.Account) error{c.mail, c.done, c.asks, c.ready, c.failures,
			c.cost} {
			if err := part(ctx, a); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(c.Moved, func(a, b notify.Count) int { return b.N - a.N })
	if c.spent.Calls > 0 {
		c.Spent = fmt.Sprintf("%s, %s, %s, on the days of this digest", c.spent.Cost,
			printer.Count(c.spent.Tokens, "token", "tokens"), printer.Count(c.spent.Calls, "call", "calls"))
	}
	if err := c.ofAgents(ctx); err != nil {
		return nil, err
	}
	return c.Digest, c.ofRules(ctx, accounts)
}

// A composing is a digest that is being made.
type composing struct {
	*App
	*notify.Digest
	all   bool // several mailboxes: each is named
	spent llm.Spend
}

// in names the mailbox where there are several.
func (c *composing) in(a *mailstore.Account) string {
	if !c.all {
		return ""
	}
	return " in " + a.Email
}

// news counts what began in the time of the digest.
func (c *composing) news(since time.Time) {
	if !since.Before(c.From) {
		c.News++
	}
}

// mail counts what was stored since the last digest, also if Gmail had received it before: nobody was there then to
// take it in. Of what a mailbox held when it was added, that is no news.
func (c *composing) mail(ctx context.Context, a *mailstore.Account) error {
	in := mailstore.Arrived{From: c.From, Until: c.Until, Received: a.CreatedAt}
	if c.From.Before(in.Received) {
		in.Received = c.From
	}
	came, err := c.Mail.CountArrived(ctx, a.ID, in)
	if err != nil {
		return err
	}
	c.Came += came
	if !a.BackfilledAll || a.Backfill.State == mailstore.BackfillRunning {
		return nil // of whom there was mail before is not known
	}
	list, err := c.Mail.NewSenders(ctx, a.ID, in)
	for _, s := range list {
		if !strings.EqualFold(s.Email, a.Email) {
			c.Senders = append(c.Senders, fromWhom(s.Name, s.Email)+": "+notify.Plain(s.Subject)+c.in(a))
		}
	}
	return err
}

// fromWhom is a sender on one line, whatever the name says.
func fromWhom(name, email string) string {
	if name = notify.Plain(name); name == "" {
		return notify.Plain(email)
	}
	return printer.Short(name, 30) + " <" + notify.Plain(email) + ">"
}

func (c *composing) done(ctx context.Context, a *mailstore.Account) error {
	list, err := c.Ledger.Activity().Done(ctx, a.ID, c.From, c.Until)
	if err != nil {
		return err
	}
	for _, d := range list {
		by := "nobody"
		switch d.Source {
		case postroom.SourceHost: // all that this program decides itself is what a person chose
			by = "a person"
		case postroom.SourceDeterministic:
			by = "the rule " + notify.Plain(d.Rule)
		case postroom.SourceModel:
			by = "the model " + notify.Plain(cmp.Or(d.Model, "that was asked"))
		}
		c.Moved = append(c.Moved, notify.Count{What: strings.ReplaceAll(string(d.Action), "_", " ") + " by " + by + c.in(a),
			N: d.N})
	}
	answers, err := c.Ledger.Activity().Answers(ctx, a.ID, c.From, c.Until)
	for _, d := range answers {
		c.Answers = append(c.Answers, notify.Count{N: d.N,
			What: d.Outcome + " by " + notify.Plain(d.Approver) + c.in(a)})
	}
	if err != nil {
		return err
	}
	undone, err := c.Ledger.Activity().Undone(ctx, a.ID, c.From, c.Until)
	for _, n := range undone {
		c.Undone += n
	}
	return err
}

// mostAsked bounds the requests, and the drafts, that a digest counts.
const mostAsked = 100

func (c *composing) asks(ctx context.Context, a *mailstore.Account) error {
	list, err := c.Ledger.Approvals(ctx, safety.Filter{AccountID: a.ID, Limit: mostAsked})
	for i := range list {
		if w := &list[i]; w.Fault == nil {
			c.news(w.Approval.RequestedAt)
			c.Asks = append(c.Asks, strings.ReplaceAll(string(w.Action.Type), "_", " ")+": "+
				notify.Plain(w.Decision.Subject)+", from "+notify.Plain(w.Decision.Sender)+c.in(a))
		}
	}
	return err
}

// ready counts the drafts of answers that lie ready.
func (c *composing) ready(ctx context.Context, a *mailstore.Account) error {
	list, _, err := c.Replies.List(ctx, replies.Filter{AccountID: a.ID, Limit: mostAsked,
		States: []replies.State{replies.Drafted, replies.ReworkRequested}})
	for i := range list {
		c.news(list[i].UpdatedAt)
	}
	c.Ready += len(list)
	return err
}

// ofAgents adds the agents that are paused. They are of all mailboxes, and so is why, which is not said here.
func (c *composing) ofAgents(ctx context.Context) error {
	list, err := c.Agents.Profiles(ctx)
	for i := range list {
		if p := &list[i]; !p.PausedAt.IsZero() {
			c.news(p.PausedAt)
			c.Failures = append(c.Failures, "the agent "+p.Name+" is paused: 'postroomd agents profiles' says why, and "+
				"'postroomd agents resume "+p.Name+"' has it work again")
		}
	}
	return err
}

func (c *composing) failures(ctx context.Context, a *mailstore.Account) error {
	if a.State == mailstore.AccountReauthorize {
		c.news(a.Since)
		c.Failures = append(c.Failures, a.Email+" has lost its grant: "+c.Env.HowToSignIn(*a))
	}
	list, err := c.Ledger.Actions(ctx, safety.Filter{AccountID: a.ID, EndedSince: c.From, EndedUntil: c.Until,
		Limit: mostAsked, States: []postroom.ActionState{postroom.ActionFailed}})
	c.News += len(list)
	for i := range list {
		c.Failures = append(c.Failures, strings.ReplaceAll(string(list[i].Action.Type), "_", " ")+" failed: "+
			notify.Plain(list[i].Action.Error)+c.in(a))
	}
	return err
}

// begun adds a rule that only labels for now, or did so at the time of the last digest: from then on it moves mail.
func (c *composing) begun(r *rules.Rule) {
	ends := r.LabelOnlyEnds()
	if ends.IsZero() || !ends.After(c.From) {
		return
	}
	text := notify.Plain(r.Name) + " only labels until the end of " + r.Schedule.LabelOnlyUntil
	if !ends.After(c.Until) {
		c.News++
		text = notify.Plain(r.Name) + " does all it says since " + ends.Format(time.DateOnly) + "; before, it only labelled"
	}
	c.Begun = append(c.Begun, text)
}

// ofRules adds the rules that have begun, and those that were disabled for a reason, which no person has given.
func (c *composing) ofRules(ctx context.Context, accounts []mailstore.Account) error {
	list, err := c.Rules.List(ctx)
	for i := range list {
		r := &list[i]
		of := r.AccountID == "" ||
			slices.ContainsFunc(accounts, func(a mailstore.Account) bool { return a.ID == r.AccountID })
		if of && r.Enabled {
			c.begun(r)
		}
		if of && !r.Enabled && r.DisabledReason != "" {
			c.news(r.UpdatedAt)
			c.Failures = append(c.Failures, "the rule "+notify.Plain(r.Name)+" is disabled: "+
				notify.Plain(r.DisabledReason))
		}
	}
	return err
}

func (c *composing) cost(ctx context.Context, a *mailstore.Account) error {
	spent, err := c.Models.Records.Spent(ctx, a.ID, c.From, c.Until)
	c.spent.Calls, c.spent.Tokens, c.spent.Cost = c.spent.Calls+spent.Calls, c.spent.Tokens+spent.Tokens,
		c.spent.Cost+spent.Cost
	return err
}
