package app

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/rules"
)

// The bounds of a preview.
const (
	PreviewSince   = 90 * 24 * time.Hour // before the newest message
	PreviewHits    = 20
	previewFirst   = 60 * time.Millisecond  // of work until the first state
	previewEach    = 250 * time.Millisecond // of work between two states
	previewLongest = 2 * time.Second        // of work in all
	previewSenders = 20                     // a rule about more reads all messages
)

// A RulePreview is what a rule has found in the newest mail so far. It changes nothing.
type RulePreview struct {
	Hits   []RuleHit       // the newest, at most PreviewHits
	Found  int             // messages that the rule matches
	Read   int             // messages that were read
	All    int             // messages of the time; 0 if those of the rule's senders alone are read
	Ended  bool            // all are read
	Spent  bool            // it took too long to read them all
	Meant  bool            // the rule asks what mail means: it matches where that is known now
	Marked []MarkedMessage // those asked about, if they are there
}

// A MarkedMessage is a message that a person has marked.
type MarkedMessage struct {
	*postroom.Message
	Found bool // the rule matches it
}

// A RuleHit is a message that a rule matches.
type RuleHit struct {
	Message *postroom.Message // without its bodies, if the rule does not read them
	Others  []string          // the names of the other rules that decide about it now, or would have done as it arrived
}

// PreviewRule looks for the messages that a rule matches among those of the last 90 days before the newest, the newest
// first, each as it arrived, and yields what it has found so far several times a second. The rule has the labels as
// files have them; its name is left out of the rules in use. It ends after two seconds of work, or when the caller
// does. It also says whether the rule matches the marked messages, by their ids. An invalid condition is an error that
// matches [rules.ErrInvalidRule].
func (h *App) PreviewRule(
	ctx context.Context, account mailstore.Account, rule rules.Rule, marked ...string,
) iter.Seq2[RulePreview, error] {
	return func(yield func(RulePreview, error) bool) {
		begun := time.Now()
		p, err := h.newPreviewer(ctx, account, rule)
		if err != nil {
			yield(RulePreview{}, err)
			return
		}
		if err := p.readMarked(ctx, marked); err != nil {
			yield(RulePreview{}, err)
			return
		}
		p.run(ctx, begun, yield)
	}
}

// A previewer looks for the messages of a rule.
type previewer struct {
	app    *App
	state  RulePreview
	within mailstore.MessageRange
	of     mailstore.Account
	tried  *rules.Set
	others *rules.Set
}

func (h *App) newPreviewer(ctx context.Context, account mailstore.Account, rule rules.Rule) (*previewer, error) {
	id, err := h.RuleEditor.LabelIDs(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	rule.Condition, rule.Enabled = rule.Condition.ResolveLabels(id), true
	p := &previewer{app: h, of: account, tried: rules.NewSetWithFacts([]rules.Rule{rule}, h.Env.ActionKinds())}
	if broken := p.tried.Broken(); len(broken) > 0 {
		return nil, broken[0].Err
	}
	newest, err := h.Mail.NewestReceived(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	p.within = mailstore.MessageRange{Since: newest.Add(-PreviewSince), NewestFirst: true,
		WithoutBodies: !p.tried.ReadsBodies()}
	p.state.Meant = p.tried.AsksMeaning()
	if senders, some := rule.Senders(); some && len(senders) <= previewSenders {
		p.within.Senders = senders
		return p, h.addOthers(ctx, p, rule.Name)
	}
	counts, err := h.Mail.CountReceived(ctx, account.ID, []time.Time{p.within.Since, newest.Add(time.Second)})
	if err != nil {
		return nil, err
	}
	p.state.All = counts[0]
	return p, h.addOthers(ctx, p, rule.Name)
}

// addOthers compiles the rules in use but the one of the name.
func (h *App) addOthers(ctx context.Context, p *previewer, name string) error {
	inUse, err := h.rulesOf(ctx, p.of.ID)
	inUse = slices.DeleteFunc(inUse, func(r rules.Rule) bool { return r.Name == name })
	p.others = rules.NewSetWithFacts(inUse, h.Env.ActionKinds())
	return err
}

func (p *previewer) readMarked(ctx context.Context, ids []string) error {
	for _, id := range ids {
		m, err := p.app.Mail.Message(ctx, p.of.ID, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		names, err := p.decide(ctx, p.tried, m)
		if err != nil {
			return err
		}
		p.state.Marked = append(p.state.Marked, MarkedMessage{m, len(names) > 0})
	}
	return nil
}

// run reads messages from the time on at which the work has begun.
func (p *previewer) run(ctx context.Context, since time.Time, yield func(RulePreview, error) bool) {
	spent, next := time.Duration(0), previewFirst
	for m, err := range p.app.Mail.AllMessages(ctx, p.of.ID, p.within) {
		if err == nil {
			err = p.take(ctx, m)
		}
		if err != nil {
			yield(RulePreview{}, err)
			return
		}
		worked := spent + time.Since(since)
		if worked < next {
			continue
		}
		p.state.Spent = worked >= previewLongest
		if !yield(p.shown(), nil) || p.state.Spent {
			return
		}
		spent, next, since = worked, worked+previewEach, time.Now()
	}
	p.state.Ended = true
	yield(p.shown(), nil)
}

func (p *previewer) shown() RulePreview {
	state := p.state
	state.Hits = slices.Clone(state.Hits)
	return state
}

// take tries the rule on a message.
func (p *previewer) take(ctx context.Context, m *postroom.Message) error {
	p.state.Read++
	if slices.ContainsFunc(notDecided, m.HasLabel) {
		return nil
	}
	names, err := p.decide(ctx, p.tried, m)
	if err != nil || len(names) == 0 {
		return err
	}
	p.state.Found++
	if len(p.state.Hits) == PreviewHits {
		return nil
	}
	hit := RuleHit{Message: m}
	if p.within.WithoutBodies && p.others.ReadsBodies() {
		if m, err = p.app.Mail.Message(ctx, p.of.ID, m.ID); err != nil {
			return err
		}
	}
	hit.Others, err = p.decide(ctx, p.others, m)
	p.state.Hits = append(p.state.Hits, hit)
	return err
}

// PastOf is what the other stored mail told about a message when it came.
func (h *App) PastOf(ctx context.Context, m *postroom.Message) (past rules.Past, err error) {
	history := senders.History{Store: h.Mail}
	if past.WrittenTo, err = history.WrittenTo(ctx, m); err != nil {
		return past, err
	}
	past.Mine, past.Theirs, err = history.Thread(ctx, m, m.ReceivedAt)
	return past, err
}

// decide returns the names of the rules that would have decided about a message as it arrived, or when it was known
// what it means.
func (p *previewer) decide(ctx context.Context, set *rules.Set, m *postroom.Message) (names []string, err error) {
	facts := &rules.Facts{Server: rules.GmailServer}
	if set.AsksSenders() {
		if facts.SenderSeen, err = p.app.Mail.SenderSeen(ctx, m); err != nil {
			return nil, err
		}
	}
	history := senders.History{Store: p.app.Mail}
	if facts.Past, err = set.PastOf(ctx, history, m, m.ReceivedAt); err != nil {
		return nil, err
	}
	if set.AsksMeaning() && p.app.Enrichment != nil {
		if facts.Meaning, err = p.app.Enrichment.Meaning(ctx, m); err != nil {
			return nil, err
		}
	}
	for _, rule := range set.AllWith(m, m.ReceivedAt, facts) {
		names = append(names, rule.Name)
		if !rule.Continue {
			break
		}
	}
	return names, nil
}
