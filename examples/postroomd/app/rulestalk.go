package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A RulesTalk is a session in which a person and the model write the rules of a mailbox.
type RulesTalk struct {
	Session ruleschat.Session // without an id until something is said
	Account mailstore.Account

	app     *App
	path    string // of the file that the rules come from; empty if there is none
	chat    *ruleschat.Chat
	current *rulesfile.File
}

// A Proposed is a change of rules that waits for a person, as its session shows it.
type Proposed struct {
	Number int             // of the message
	File   *rulesfile.File // the whole file as it would be
	Rules  []string        // the rules that would change, as the lines of a difference
}

// BeginTalk makes a session about the rules of a mailbox. It is stored when something is said.
func (h *App) BeginTalk(ctx context.Context, account mailstore.Account) (*RulesTalk, error) {
	return h.talkAbout(ctx, account, ruleschat.Session{AccountID: account.ID})
}

// ResumeTalk continues a session. Without one the error is [postroom.ErrNotFound].
func (h *App) ResumeTalk(ctx context.Context, id string) (*RulesTalk, error) {
	chat, err := h.NewRulesChat("")
	if err != nil {
		return nil, err
	}
	session, err := chat.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	account, err := h.Mail.Account(ctx, session.AccountID)
	if err != nil {
		return nil, fmt.Errorf("the mailbox of session %s: %w", session.ID, err)
	}
	return h.talkAbout(ctx, account, session)
}

func (h *App) talkAbout(ctx context.Context, account mailstore.Account, session ruleschat.Session) (*RulesTalk, error) {
	path, err := h.RuleEditor.Path(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	chat, err := h.NewRulesChat(path)
	if err != nil {
		return nil, err
	}
	current, err := h.RuleEditor.Current(ctx, account.ID)
	return &RulesTalk{Session: session, Account: account, app: h, path: path, chat: chat, current: current}, err
}

// Say tells the model what a person has said, and returns its answer, with what it proposes, if it does. A text that
// the chat refuses, or no model, is a [usage.Error].
func (t *RulesTalk) Say(ctx context.Context, by, text string) (*ruleschat.Reply, *Proposed, error) {
	if !t.app.Env.Config.LLM.Enabled() {
		return nil, nil, usage.Errorf("no model is configured: set llm.provider, llm.model and llm.api_key")
	}
	labels, err := t.app.Mail.Labels(ctx, t.Account.ID)
	if err != nil {
		return nil, nil, err
	}
	if t.Session.ID == "" {
		err := t.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			t.Session, err = t.chat.Begin(ctx, tx, t.Account.ID, by)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	reply, err := t.chat.Say(ctx, ruleschat.Turn{SessionID: t.Session.ID, Text: text, Rules: t.current, Labels: labels})
	switch {
	case errors.Is(err, ruleschat.ErrInvalidText):
		return nil, nil, usage.Wrap(err)
	case err != nil:
		return nil, nil, fmt.Errorf("session %s: %w", t.Session.ID, err)
	case reply.File == nil:
		return reply, nil, nil
	}
	return reply, t.proposed(reply.Number, reply.File), nil
}

func (t *RulesTalk) proposed(number int, file *rulesfile.File) *Proposed {
	p := &Proposed{Number: number, File: file}
	for _, d := range rulesfile.Differences(t.current.Rules, file.Rules) {
		p.Rules = append(p.Rules, d.String())
	}
	return p
}

// Messages returns what was said, oldest first.
func (t *RulesTalk) Messages(ctx context.Context) ([]ruleschat.Message, error) {
	return t.chat.Messages(ctx, t.Session.ID)
}

// Offer stores what a program proposes, in a session of its own that the talk becomes, with what a trial on the mail
// since an instant has found. An offer that cannot be accepted, or one too many, is a [usage.Error].
func (t *RulesTalk) Offer(ctx context.Context, o ruleschat.Offer, why string, since time.Time) (
	*Proposed, *backtest.Report, error,
) {
	var err error
	o.AccountID, o.Current = t.Account.ID, t.current
	if o.Labels, err = t.app.Mail.Labels(ctx, t.Account.ID); err != nil {
		return nil, nil, err
	}
	file, err := t.chat.CheckOffer(o)
	if err != nil {
		return nil, nil, usage.Wrap(err)
	}
	p := t.proposed(1, file)
	tried, err := t.Try(ctx, p, since)
	if err != nil {
		return nil, nil, err
	}
	text := fmt.Sprintf("%s\n\nTried on %d stored messages since %s: it decides otherwise about %d.", why, tried.Messages,
		since.Format(time.DateOnly), tried.Changed)
	err = t.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		t.Session, err = t.chat.Offer(ctx, tx, o, text)
		return err
	})
	if errors.Is(err, ruleschat.ErrTooMany) || errors.Is(err, ruleschat.ErrInvalidText) {
		err = usage.Wrap(err)
	}
	return p, tried, err
}

// Drop deletes the session with what it proposes. Rules that were accepted stay.
func (t *RulesTalk) Drop(ctx context.Context) error {
	return t.app.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return t.chat.Delete(ctx, tx, t.Session.ID)
	})
}

// Open returns the proposal of a message that can be accepted. One that cannot, since a later one, the rules or a
// person have overtaken it, is a [usage.Error].
func (t *RulesTalk) Open(ctx context.Context, number int) (*Proposed, error) {
	file, err := t.chat.Preview(ctx, ruleschat.Acceptance{SessionID: t.Session.ID, Number: number, Rules: t.current})
	if err != nil {
		return nil, refusedProposal(err)
	}
	return t.proposed(number, file), nil
}

// Try tries what is proposed on the stored mail since an instant, beside the rules in use.
func (t *RulesTalk) Try(ctx context.Context, p *Proposed, since time.Time) (*backtest.Report, error) {
	return t.app.Backtest(ctx, Trial{Account: t.Account, Text: p.File.Source, Path: t.path, Since: since,
		Samples: 3})
}

// Accept makes the proposal of a message the rules, and writes the file that they come from, whose path it returns if
// there is one. One that cannot be accepted is a [usage.Error].
func (t *RulesTalk) Accept(ctx context.Context, by string, number int) (
	done rulestore.Imported, path string, err error,
) {
	done, err = t.app.RuleEditor.Change(ctx, t.Account.ID, "proposed in session "+t.Session.ID,
		func(ctx context.Context, tx queue.Tx, text string) (*rulesfile.File, error) {
			current, err := t.app.RuleEditor.Written(t.path, text)
			if err != nil {
				return nil, err
			}
			return t.chat.Accept(ctx, tx, ruleschat.Acceptance{SessionID: t.Session.ID, Number: number, By: by, Rules: current})
		})
	return done, t.path, refusedProposal(err)
}

func refusedProposal(err error) error {
	if errors.Is(err, ruleschat.ErrNoProposal) || errors.Is(err, ruleschat.ErrChanged) {
		return usage.Wrap(err)
	}
	return err
}

// NewRulesChat returns the chat with the better model, if there is one: rules are written rarely, and used often.
// Without a model, sessions can be read. path is the rules file that is talked about; empty if there is none, or only
// sessions are read.
func (h *App) NewRulesChat(path string) (*ruleschat.Chat, error) {
	cfg := ruleschat.Config{DB: h.DB, Kinds: h.Env.ActionKinds(), Options: h.RuleEditor.Options(path)}
	if !h.Env.Config.LLM.Enabled() {
		return ruleschat.New(cfg)
	}
	model := &h.Env.Config.LLM.Model
	if h.Env.Config.Better.Enabled() {
		model = &h.Env.Config.Better
	}
	client, err := h.Models.modelClient(model)
	if err != nil {
		return nil, err
	}
	cfg.Client = client
	if t := h.Env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return ruleschat.New(cfg)
}

// AcceptLearned makes a rule that was learned one of those of its mailbox, and writes the file that they come from. One
// that was answered by now, or whose name a rule has, is a [usage.Error].
func (h *App) AcceptLearned(ctx context.Context, id, by string) error {
	return h.changeLearned(ctx, id, h.Lessons.Accept, by, func(r *lessons.Rule, path string, current *rulesfile.File) (
		rulesfile.Revision, error) {
		file, err := rulesfile.Parse("learned", strings.NewReader(r.Text), h.RuleEditor.Options(path)...)
		if err == nil && isNamed(current.Rules, r.Name) {
			err = usage.Errorf("there is a rule %q already; rename or remove it", r.Name)
		}
		if err != nil {
			return rulesfile.Revision{}, err
		}
		return rulesfile.Revision{Rules: file.Rules}, nil
	})
}

// RemoveLearned removes a rule that was learned from those of its mailbox, if a person has not done so elsewhere.
func (h *App) RemoveLearned(ctx context.Context, id, by string) error {
	learned, err := h.Lessons.Rule(ctx, id)
	if err != nil {
		return err
	}
	current, err := h.RuleEditor.Current(ctx, learned.AccountID)
	if err != nil {
		return err
	}
	account, err := h.Mail.Account(ctx, learned.AccountID)
	if err != nil {
		return err
	}
	if !isNamed(current.For(account.ID, account.Email).Rules, learned.Name) {
		return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := h.Lessons.Withdraw(ctx, tx, id, by)
			return err
		})
	}
	return h.changeLearned(ctx, id, h.Lessons.Withdraw, by, func(r *lessons.Rule, _ string, _ *rulesfile.File) (
		rulesfile.Revision, error) {
		return rulesfile.Revision{Remove: []string{r.Name}}, nil
	})
}

// SharesRules reports whether the rules of the mailbox of an address are in a file that other mailboxes read as well.
func (h *App) SharesRules(ctx context.Context, email string) (bool, error) {
	accounts, err := h.Mail.Accounts(ctx)
	path := h.Env.RulesPath(email)
	return path != "" && slices.ContainsFunc(accounts, func(a mailstore.Account) bool {
		return a.Email != email && h.Env.RulesPath(a.Email) == path
	}), err
}

func isNamed(list []rules.Rule, name string) bool {
	return slices.ContainsFunc(list, func(r rules.Rule) bool { return r.Name == name })
}

// changeLearned writes the new state of a learned rule with the rules that follow from it, or neither.
func (h *App) changeLearned(ctx context.Context, id string,
	change func(ctx context.Context, tx queue.Tx, id, by string) (lessons.Rule, error), by string,
	revision func(r *lessons.Rule, path string, current *rulesfile.File) (rulesfile.Revision, error),
) error {
	learned, err := h.Lessons.Rule(ctx, id)
	if err != nil {
		return err
	}
	path, err := h.RuleEditor.Path(ctx, learned.AccountID)
	if err != nil {
		return err
	}
	_, err = h.RuleEditor.Change(ctx, learned.AccountID, "learned from corrections, by "+by,
		func(ctx context.Context, tx queue.Tx, text string) (*rulesfile.File, error) {
			r, err := change(ctx, tx, id, by)
			if err != nil {
				return nil, err
			}
			current, err := h.RuleEditor.Written(path, text)
			if err != nil {
				return nil, err
			}
			revised, err := revision(&r, path, current)
			if err != nil {
				return nil, err
			}
			return current.Revise(revised, h.RuleEditor.Options(path)...)
		})
	return err
}
