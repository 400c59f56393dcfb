package rules

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

func rulesChat() *cobra.Command {
	cmd := command.Group("chat", "Write rules together with the model: say what you want, and accept what it proposes",
		rulesChatSay(), rulesChatList(), rulesChatShow(), rulesChatAccept(), rulesChatDrop())
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
			c, err := talkOrNew(ctx, h, *session, *address)
			if err != nil {
				return err
			}
			said, err := say(ctx, c, args[0], *since)
			switch {
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

func talkOrNew(ctx context.Context, h *app.App, session, address string) (*app.RulesTalk, error) {
	if session != "" {
		return resumeTalk(ctx, h, session)
	}
	account, err := command.Mailbox(ctx, h, address)
	if err != nil {
		return nil, err
	}
	return h.BeginTalk(ctx, account)
}

// resumeTalk continues the session with the given prefix of its id.
func resumeTalk(ctx context.Context, h *app.App, id string) (*app.RulesTalk, error) {
	session, err := findSession(ctx, h, id)
	if err != nil {
		return nil, err
	}
	return h.ResumeTalk(ctx, session.ID)
}

func findSession(ctx context.Context, h *app.App, id string) (ruleschat.Session, error) {
	chat, err := h.NewRulesChat("")
	if err != nil {
		return ruleschat.Session{}, err
	}
	list, err := chat.Sessions(ctx, "", 1000)
	if err != nil {
		return ruleschat.Session{}, err
	}
	prefix := strings.ToLower(strings.TrimSpace(id))
	list = slices.DeleteFunc(list, func(s ruleschat.Session) bool {
		return prefix == "" || !strings.HasPrefix(s.ID, prefix)
	})
	if len(list) != 1 {
		return ruleschat.Session{}, usage.Errorf(
			"%d sessions have an id that begins with %q; 'postroomd rules chat list' lists them", len(list), id)
	}
	return list[0], nil
}

// say says something, and tries what is proposed on the stored mail of the time since; with "0" it does not.
func say(ctx context.Context, t *app.RulesTalk, text, since string) (*view.ChatReply, error) {
	window, err := mailWindow(strings.TrimPrefix(since, "0"), "", time.Now())
	if err != nil {
		return nil, err
	}
	reply, proposed, err := t.Say(ctx, app.CurrentUser(), text)
	if err != nil {
		return nil, err
	}
	v := &view.ChatReply{Session: t.Session.ID, Number: reply.Number, Text: reply.Text, Model: reply.Model}
	if proposed == nil {
		return v, nil
	}
	v.File, v.Proposed = proposed.File.Source, proposed.Rules
	if since != "0" {
		v.Tried, err = t.Try(ctx, proposed, window.Since)
	}
	return v, err
}
