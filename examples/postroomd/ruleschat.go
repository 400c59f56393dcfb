package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesChat() *cobra.Command {
	cmd := group("chat", "Write rules together with the model: say what you want, and accept what it proposes",
		rulesChatSay(), rulesChatList(), rulesChatShow(), rulesChatAccept())
	cmd.Long = "Write rules together with the model: say what you want in your own words, and accept what it proposes.\n\n" +
		"    postroomd rules chat say 'Receipts from shops go to a label Receipts, out of the inbox.'\n" +
		"    postroomd rules chat say --session 01a2 'Only those of example.com.'\n" +
		"    postroomd rules chat accept 01a2 4\n\n" +
		"The model sees your rules and the names of your labels, and no mail. What it proposes is checked, tried on your stored mail, and changes\n" +
		"nothing until you accept it."
	return cmd
}

func rulesChatSay() *cobra.Command {
	cmd := &cobra.Command{Use: "say TEXT", Short: "Say what you want; the model asks, or proposes rules", Args: cobra.ExactArgs(1)}
	place, address := placeFlag(cmd), mailboxFlag(cmd)
	session := cmd.Flags().String("session", "", "go on in this session; without it a new one begins")
	since := cmd.Flags().String("since", "90d", "try what is proposed on the stored mail of this long; 0 tries nothing")
	cmd.MarkFlagsMutuallyExclusive("session", "mailbox") // a session is about the rules of one
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			if !h.env.Config.LLM.Enabled() {
				return usage.Errorf("no model is configured: set llm.provider, llm.model and llm.api_key")
			}
			c, err := h.talkOrNew(ctx, *session, *address)
			if err != nil {
				return err
			}
			said, err := c.say(ctx, args[0], *since)
			switch {
			case errors.Is(err, ruleschat.ErrInvalidText):
				return usage.Wrap(err)
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), said)
			}
			r := printer.NewReport(cmd.OutOrStdout())
			said.print(r)
			return r.Flush()
		})
	}
	return cmd
}

// A rulesTalk is a session with its rules.
type rulesTalk struct {
	app     *host
	chat    *ruleschat.Chat
	session ruleschat.Session
	account gmail.Account
	current *rulesfile.File
}

// newTalk makes a session about the rules of the mailbox, which begins with the first message.
func (h *host) newTalk(ctx context.Context, address string) (*rulesTalk, error) {
	account, err := h.mailbox(ctx, address)
	if err != nil {
		return nil, err
	}
	return h.talkAbout(ctx, account, ruleschat.Session{AccountID: account.ID})
}

func (h *host) talkOrNew(ctx context.Context, session, address string) (*rulesTalk, error) {
	if session == "" {
		return h.newTalk(ctx, address)
	}
	return h.talk(ctx, session)
}

// talk continues the session with the given prefix of its id.
func (h *host) talk(ctx context.Context, id string) (*rulesTalk, error) {
	session, err := h.chatSession(ctx, id)
	if err != nil {
		return nil, err
	}
	account, err := h.mail.Account(ctx, session.AccountID)
	if err != nil {
		return nil, fmt.Errorf("the mailbox of session %s: %w", session.ID, err)
	}
	return h.talkAbout(ctx, account, session)
}

func (h *host) chatSession(ctx context.Context, id string) (ruleschat.Session, error) {
	chat, err := h.rulesChat()
	if err != nil {
		return ruleschat.Session{}, err
	}
	list, err := chat.Sessions(ctx, 1000)
	if err != nil {
		return ruleschat.Session{}, err
	}
	prefix := strings.ToLower(strings.TrimSpace(id))
	list = slices.DeleteFunc(list, func(s ruleschat.Session) bool { return prefix == "" || !strings.HasPrefix(s.ID, prefix) })
	if len(list) != 1 {
		return ruleschat.Session{}, usage.Errorf("%d sessions have an id that begins with %q; 'postroomd rules chat list' lists them", len(list), id)
	}
	return list[0], nil
}

func (h *host) talkAbout(ctx context.Context, account gmail.Account, session ruleschat.Session) (*rulesTalk, error) {
	chat, err := h.rulesChat()
	if err != nil {
		return nil, err
	}
	current, err := h.currentRules(ctx, account.ID)
	return &rulesTalk{app: h, chat: chat, session: session, account: account, current: current}, err
}

// rulesChat returns the chat with the better model, if there is one: rules are written rarely, and used often. Without a model,
// sessions can be read.
func (h *host) rulesChat() (*ruleschat.Chat, error) {
	cfg := ruleschat.Config{DB: h.db, Kinds: environment.Kinds, Options: h.rulesOptions()}
	if !h.env.Config.LLM.Enabled() {
		return ruleschat.New(cfg)
	}
	model := &h.env.Config.LLM.Model
	if h.env.Config.Better.Enabled() {
		model = &h.env.Config.Better
	}
	client, err := h.modelClient(model)
	if err != nil {
		return nil, err
	}
	cfg.Client = client
	if t := h.env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return ruleschat.New(cfg)
}

// A saidView is the model's answer as JSON.
type saidView struct {
	Session  string          `json:"session"`
	Number   int             `json:"number"` // of the message
	Text     string          `json:"text"`
	Model    string          `json:"model"`
	Proposed []string        `json:"proposed,omitempty"` // the rules that would change, as the lines of a difference
	File     string          `json:"file,omitempty"`     // the whole file as it would be
	Tried    *rules.Backtest `json:"tried,omitempty"`
}

func (c *rulesTalk) say(ctx context.Context, text, since string) (*saidView, error) {
	window, err := mailWindow(strings.TrimPrefix(since, "0"), "", time.Now())
	if err != nil {
		return nil, err
	}
	labels, err := c.app.mail.Labels(ctx, c.account.ID)
	if err != nil {
		return nil, err
	}
	if c.session.ID == "" {
		err := c.app.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			c.session, err = c.chat.Begin(ctx, tx, c.account.ID, me())
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	reply, err := c.chat.Say(ctx, ruleschat.Turn{SessionID: c.session.ID, Text: text, Rules: c.current, Labels: labels})
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", c.session.ID, err)
	}
	v := &saidView{Session: c.session.ID, Number: reply.Number, Text: reply.Text, Model: reply.Model}
	if reply.File == nil {
		return v, nil
	}
	v.File, v.Proposed = reply.File.Source, changedRules(c.current, reply.File)
	if since != "0" {
		v.Tried, err = c.try(ctx, reply.File, window)
	}
	return v, err
}

func changedRules(before, after *rulesfile.File) []string {
	list := rulesfile.Differences(before.Rules, after.Rules)
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].String()
	}
	return texts
}

// try shows the effect that the proposal would have had on stored mail, compared with the current rules.
func (c *rulesTalk) try(ctx context.Context, file *rulesfile.File, window gmail.MessageRange) (*rules.Backtest, error) {
	id, err := c.app.labelIDs(ctx, c.account.ID)
	if err != nil {
		return nil, err
	}
	proposed, current := *file, *c.current
	for _, f := range []*rulesfile.File{&proposed, &current} {
		f.Rules = slices.Clone(f.Rules)
		f.ResolveLabels(id)
		for i := range f.Rules {
			f.Rules[i].AccountID = c.account.ID
		}
	}
	cfg := rules.BacktestConfig{Rules: proposed.Rules, Against: current.Rules, Kinds: environment.Kinds, Samples: 3, Senders: c.app.mail}
	return rules.RunBacktest(ctx, cfg, c.app.mail.AllMessages(ctx, c.account.ID, window))
}

func (v *saidView) print(r *printer.Report) {
	r.Heading(v.Model)
	r.Quote(v.Text)
	if v.File == "" {
		r.Heading("Answer with")
		r.Verbatim("postroomd rules chat say --session " + v.Session + " TEXT")
		return
	}
	r.Heading("Proposed")
	for _, text := range v.Proposed {
		r.Verbatim(text)
	}
	if v.Tried != nil {
		r.Heading("Tried on stored mail")
		r.Line(fmt.Sprintf("Of %s, %d would have been decided about differently.", printer.Count(v.Tried.Messages, "message", "messages"), v.Tried.Changed))
		for _, c := range v.Tried.Changes {
			r.Line(fmt.Sprintf("%d: %s instead of %s", c.Count, actionsOr(c.After), actionsOr(c.Before)))
		}
	}
	r.Heading("Nothing is changed yet. Accept it with")
	r.Verbatim(fmt.Sprintf("postroomd rules chat accept %s %d", v.Session, v.Number))
}

func actionsOr(actions []string) string {
	if len(actions) == 0 {
		return "nothing"
	}
	return strings.Join(actions, ", ")
}
