package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesChat() *cobra.Command {
	cmd := command.Group("chat", "Write rules together with the model: say what you want, and accept what it proposes",
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
	cmd := &cobra.Command{Use: "say TEXT", Short: "Say what you want; the model asks, or proposes rules",
		Args: cobra.ExactArgs(1)}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	session := cmd.Flags().String("session", "", "go on in this session; without it a new one begins")
	since := cmd.Flags().String("since", "90d", "try what is proposed on the stored mail of this long; 0 tries nothing")
	cmd.MarkFlagsMutuallyExclusive("session", "mailbox") // a session is about the rules of one
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if !h.Env.Config.LLM.Enabled() {
				return usage.Errorf("no model is configured: set llm.provider, llm.model and llm.api_key")
			}
			c, err := talkOrNew(ctx, h, *session, *address)
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
			said.Print(r)
			return r.Flush()
		})
	}
	return cmd
}

// A rulesTalk is a session with its rules.
type rulesTalk struct {
	app     *app.App
	chat    *ruleschat.Chat
	session ruleschat.Session
	account mailstore.Account
	current *rulesfile.File
}

// newTalk makes a session about the rules of the mailbox, which begins with the first message.
func newTalk(ctx context.Context, h *app.App, address string) (*rulesTalk, error) {
	account, err := command.Mailbox(ctx, h, address)
	if err != nil {
		return nil, err
	}
	return talkAbout(ctx, h, account, ruleschat.Session{AccountID: account.ID})
}

func talkOrNew(ctx context.Context, h *app.App, session, address string) (*rulesTalk, error) {
	if session == "" {
		return newTalk(ctx, h, address)
	}
	return resumeTalk(ctx, h, session)
}

// resumeTalk continues the session with the given prefix of its id.
func resumeTalk(ctx context.Context, h *app.App, id string) (*rulesTalk, error) {
	session, err := findSession(ctx, h, id)
	if err != nil {
		return nil, err
	}
	account, err := h.Mail.Account(ctx, session.AccountID)
	if err != nil {
		return nil, fmt.Errorf("the mailbox of session %s: %w", session.ID, err)
	}
	return talkAbout(ctx, h, account, session)
}

func findSession(ctx context.Context, h *app.App, id string) (ruleschat.Session, error) {
	chat, err := h.NewRulesChat("")
	if err != nil {
		return ruleschat.Session{}, err
	}
	list, err := chat.Sessions(ctx, 1000)
	if err != nil {
		return ruleschat.Session{}, err
	}
	list = slices.DeleteFunc(list, func(s ruleschat.Session) bool { return !app.MatchesID(s.ID, id) })
	_, err = app.OneID(printer.List(list, func(s ruleschat.Session) string { return s.ID }), "session", id,
		"postroomd rules chat list")
	if err != nil {
		return ruleschat.Session{}, err
	}
	return list[0], nil
}

func talkAbout(ctx context.Context, h *app.App, account mailstore.Account,
	session ruleschat.Session) (*rulesTalk, error) {
	chat, err := h.NewRulesChat(h.Env.RulesPath(account.Email))
	if err != nil {
		return nil, err
	}
	current, err := h.RuleEditor.Current(ctx, account.ID)
	return &rulesTalk{app: h, chat: chat, session: session, account: account, current: current}, err
}

func (c *rulesTalk) say(ctx context.Context, text, since string) (*view.ChatReply, error) {
	window, err := mailWindow(strings.TrimPrefix(since, "0"), "", time.Now())
	if err != nil {
		return nil, err
	}
	labels, err := c.app.Mail.Labels(ctx, c.account.ID)
	if err != nil {
		return nil, err
	}
	if c.session.ID == "" {
		err := c.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			c.session, err = c.chat.Begin(ctx, tx, c.account.ID, app.CurrentUser())
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
	v := &view.ChatReply{Session: c.session.ID, Number: reply.Number, Text: reply.Text, Model: reply.Model}
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
func (c *rulesTalk) try(ctx context.Context, file *rulesfile.File, window mailstore.MessageRange) (*backtest.Report,
	error) {
	id, err := c.app.RuleEditor.LabelIDs(ctx, c.account.ID)
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
	cfg := backtest.Config{Rules: proposed.Rules, Against: current.Rules, Kinds: environment.Kinds, Samples: 3,
		Senders: c.app.Mail}
	return backtest.Run(ctx, cfg, c.app.Mail.AllMessages(ctx, c.account.ID, window))
}
