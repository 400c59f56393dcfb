package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/reply"
	"github.com/postroom-go/postroom/queue"
)

// RunAgent is the kind of action that has an agent work on the message. Its parameter names the profile.
const RunAgent postroom.ActionType = "run_agent"

const paramProfile = "profile"

var errNoService = queue.Fatal(errors.New("agents: nobody runs agents here"))

// Kinds are the kinds of actions that agents need. A rule that names none of the profiles is refused; nil
// profiles are not known, and a rule may name any. The function returns the service when an action is carried out; nil
// is for programs that only read rules.
func Kinds(profiles []agent.Profile, service func() *Service) []postroom.Kind {
	return []postroom.Kind{runKind(profiles, service), draftKind(service)}
}

func runKind(profiles []agent.Profile, service func() *Service) postroom.Kind {
	kind := postroom.Kind{
		Type: RunAgent, Summary: "have an agent work on the message", Danger: postroom.Reversible,
		Parameters: []postroom.Parameter{{Name: paramProfile, Type: postroom.TextParameter, Required: true,
			Summary: "the name of the agent's profile"}},
		Handler: func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			if service == nil {
				return postroom.Outcome{}, errNoService
			}
			return service().start(ctx, a)
		},
		Undo: func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Commit, error) {
			if service == nil {
				return nil, errNoService
			}
			return service().stop(ctx, a)
		},
	}
	if profiles != nil {
		kind.Check = func(p postroom.Parameters, _ time.Time) error {
			name, _ := p.Text(paramProfile)
			return checkProfile(profiles, name)
		}
	}
	return kind
}

func checkProfile(profiles []agent.Profile, name string) error {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.Name
	}
	switch {
	case slices.Contains(names, name):
		return nil
	case len(names) == 0:
		return fmt.Errorf("there is no profile %q: paths.agents names no folder with profiles", name)
	}
	return fmt.Errorf("there is no profile %q; the profiles are %s", name, strings.Join(names, ", "))
}

// draftKind is the kind of action that leaves a draft of an answer. Undoing it deletes the draft, unless a person has
// changed or sent it.
func draftKind(service func() *Service) postroom.Kind {
	return postroom.Kind{
		Type: agent.Draft, Summary: "leave a draft of an answer", Danger: postroom.Reversible,
		Parameters: []postroom.Parameter{
			{Name: "to", Type: postroom.TextsParameter, Summary: "the addresses; the sender's, if left out"},
			{Name: "body", Type: postroom.TextParameter, Summary: "the text of the answer", Required: true},
		},
		Handler: func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			if service == nil {
				return postroom.Outcome{}, errNoService
			}
			return service().draft(ctx, a)
		},
		Undo: func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Commit, error) {
			if service == nil {
				return nil, errNoService
			}
			return nil, service().discard(ctx, a)
		},
		Check: func(p postroom.Parameters, _ time.Time) error {
			body, _ := p.Text("body")
			return postroom.CheckVariables(body)
		},
	}
}

func draftKey(a postroom.Action) string { return "action:" + a.ID }

// paramSeen is the parameter of the undo data that has the hash of the draft as it was made.
const paramSeen = "sha256"

func (s *Service) draft(ctx context.Context, a postroom.Action) (done postroom.Outcome, err error) {
	body, _ := a.Parameters.Text("body")
	content := outbox.DraftContent{Answers: a.MessageID, Text: body, Fill: true, Sign: true, Quote: true}
	for _, text := range texts(a.Parameters["to"]) {
		list, ok := mime.ParseAddresses(text)
		if !ok {
			return done, queue.Fatal(fmt.Errorf("agents: draft to %q, which is no address", text))
		}
		content.To = append(content.To, list...)
	}
	if _, err := s.drafts.Create(ctx, a.AccountID, draftKey(a), content); err != nil {
		return done, gmailapi.Verdict(err)
	}
	draft, made, err := s.drafts.Read(ctx, a.AccountID, draftKey(a))
	if gmailapi.ClassOf(err) == gmailapi.ClassGone { // a person was quicker
		return done, nil
	}
	if err != nil {
		return done, gmailapi.Verdict(err)
	}
	done.Undo = postroom.Parameters{paramSeen: seen(made)}
	done.Commit, err = s.follow(ctx, a, draft, content)
	return done, err
}

// follow returns what has the draft of an action followed: as it is built, and not as a person may have changed it
// before it was read, since only what nobody has changed is ever deleted.
func (s *Service) follow(ctx context.Context, a postroom.Action, draft outbox.Draft,
	content outbox.DraftContent) (postroom.Commit, error) {
	if s.cfg.Made == nil {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	raw, err := s.drafts.Preview(ctx, a.AccountID, draftKey(a), content)
	if err != nil {
		return nil, gmailapi.Verdict(err)
	}
	built, err := mime.ParseBytes(raw, nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx postroom.Tx) error {
		return s.cfg.Made(ctx, tx, drafting.MadeDraft{AccountID: a.AccountID, ThreadID: draft.ThreadID,
			MessageID: a.ProviderMessageID, Key: draftKey(a), Text: strings.TrimSpace(reply.Read(built).Written()),
			Message: built})
	}, nil
}

func (s *Service) discard(ctx context.Context, a postroom.Action) error {
	var before string
	if a.UndoHint != nil {
		before, _ = a.UndoHint.Undo.Text(paramSeen)
	}
	_, err := s.drafts.DeleteIf(ctx, a.AccountID, draftKey(a), func(now *mime.Message) error {
		if before != seen(now) {
			return queue.Fatal(errors.New("agents: a person has changed the draft, and it is left alone"))
		}
		return nil
	})
	if gmailapi.ClassOf(err) == gmailapi.ClassGone {
		return nil
	}
	return gmailapi.Verdict(err)
}

// seen returns the hash of what a person sees of a draft.
func seen(m *mime.Message) string {
	sum := sha256.New()
	for _, list := range [][]mime.Address{m.To, m.Cc, m.Bcc} {
		for _, a := range list {
			fmt.Fprintf(sum, "%q,", a.Email)
		}
		fmt.Fprint(sum, ";")
	}
	fmt.Fprintf(sum, "%q %q %q %d", m.Subject, m.Text, m.HTML, len(m.Attachments))
	return hex.EncodeToString(sum.Sum(nil))
}

// texts returns the texts of a parameter of type texts.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		for _, e := range v {
			if text, ok := e.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}
