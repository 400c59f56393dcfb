package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesChatList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the sessions, the latest first", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	limit := limitFlag(cmd, mostListed)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			list, err := h.chatSessions(ctx, *limit)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), list)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "SESSION", "LAST", "FOR", "BY", "ABOUT")
			for _, s := range list {
				t.Row(s.ID, printer.Clock(s.UpdatedAt), s.For, s.By, printer.Short(s.About, 60))
			}
			return t.Flush("no sessions")
		})
	}
	return cmd
}

// A sessionView is a session as JSON.
type sessionView struct {
	ID        string    `json:"id"`
	For       string    `json:"for"` // the mailbox
	By        string    `json:"by"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	About     string    `json:"about"` // what was said first
}

func (h *host) chatSessions(ctx context.Context, limit int) ([]sessionView, error) {
	chat, err := h.rulesChat()
	if err != nil {
		return nil, err
	}
	sessions, err := chat.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]sessionView, len(sessions))
	for i, s := range sessions {
		said, err := chat.Messages(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		list[i] = sessionView{ID: s.ID, For: emailOf(accounts, s.AccountID), By: s.By, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
		if len(said) > 0 {
			list[i].About = said[0].Text
		}
	}
	return list, nil
}

// A chatMessageView is a message of a session as JSON.
type chatMessageView struct {
	Number     int       `json:"number"`
	Role       string    `json:"role"`
	Model      string    `json:"model,omitempty"`
	Text       string    `json:"text"`
	At         time.Time `json:"at"`
	Rules      string    `json:"rules,omitempty"`  // proposed
	Remove     []string  `json:"remove,omitempty"` // proposed
	AcceptedBy string    `json:"accepted_by,omitempty"`
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
}

func viewChatMessage(m ruleschat.Message) chatMessageView {
	v := chatMessageView{Number: m.Number, Role: string(m.Role), Model: m.Model, Text: m.Text, At: m.At}
	if p := m.Proposal; p != nil {
		v.Rules, v.Remove, v.AcceptedBy, v.AcceptedAt = p.Rules, p.Remove, p.AcceptedBy, p.AcceptedAt
	}
	return v
}

func rulesChatShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show SESSION", Short: "Show what was said in a session, and what became of the proposals", Args: cobra.ExactArgs(1)}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			session, err := h.chatSession(ctx, args[0])
			if err != nil {
				return err
			}
			chat, err := h.rulesChat()
			if err != nil {
				return err
			}
			said, err := chat.Messages(ctx, session.ID)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), printer.List(said, viewChatMessage))
			}
			r := printer.NewReport(cmd.OutOrStdout())
			for _, m := range said {
				viewChatMessage(m).print(r, session.By)
			}
			return r.Flush()
		})
	}
	return cmd
}

func (v chatMessageView) print(r *printer.Report, person string) {
	who := v.Model
	if who == "" {
		who = person
	}
	r.Heading(fmt.Sprintf("%d: %s, %s", v.Number, who, printer.Clock(v.At)))
	r.Quote(v.Text)
	if v.Rules != "" {
		r.Heading("Proposed")
		r.Verbatim(v.Rules)
	}
	for _, name := range v.Remove {
		r.Line("without the rule " + name)
	}
	if !v.AcceptedAt.IsZero() {
		r.Line(fmt.Sprintf("accepted by %s, %s", v.AcceptedBy, printer.Clock(v.AcceptedAt)))
	}
}

func rulesChatAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept SESSION NUMBER", Short: "Make the proposal of a message, the latest of a session, the rules", Args: cobra.ExactArgs(2),
		Long: "Make the proposal of a message, the latest of a session, the rules. The file that paths.rules names is written; its comments stay.\n" +
			"'postroomd rules restore' goes back.",
	}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			s, err := h.chatSession(ctx, args[0])
			if err != nil {
				return err
			}
			number, err := strconv.Atoi(args[1])
			if err != nil {
				return usage.Errorf("%q is no number of a message; 'postroomd rules chat show %s' has them", args[1], s.ID)
			}
			return h.acceptProposal(ctx, cmd.OutOrStdout(), s, number)
		})
	}
	return cmd
}

func (h *host) acceptProposal(ctx context.Context, out io.Writer, s ruleschat.Session, number int) error {
	chat, err := h.rulesChat()
	if err != nil {
		return err
	}
	done, err := h.changeRules(ctx, s.AccountID, "proposed in session "+s.ID, func(ctx context.Context, tx queue.Tx, text string) (*rulesfile.File, error) {
		current, err := h.parseRules(text)
		if err != nil {
			return nil, err
		}
		return chat.Accept(ctx, tx, ruleschat.Acceptance{SessionID: s.ID, Number: number, By: me(), Rules: current})
	})
	if errors.Is(err, ruleschat.ErrNoProposal) || errors.Is(err, ruleschat.ErrChanged) {
		return usage.Wrap(err)
	}
	if err != nil {
		return err
	}
	if path := h.env.Config.Paths.Rules; path != "" {
		if _, err := fmt.Fprintf(out, "%s is written\n", path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s added, %d changed, %d removed; 'postroomd rules history' lists the versions\n", printer.Count(done.Added, "rule is", "rules are"), done.Changed, done.Removed)
	return err
}
