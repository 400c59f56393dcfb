package gate

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/limits"
)

// A Policy configures a [Gate]. The zero Policy uses the defaults. No policy lets a dangerous action pass without
// approval. Only a rule of the user does, stored with [postroom.SafeDangerousOverride].
type Policy struct {
	// ConfidenceThreshold is the confidence below which a decision needs approval; a decision at the threshold passes.
	// Default 0.7; bounds: above 0, at most 1.
	ConfidenceThreshold float64

	// ApprovalAlways lists the actions that need approval whatever the confidence. Default nil: delete, forward
	// and auto_reply. A non-nil empty list lists none.
	ApprovalAlways []postroom.ActionType

	// ModelUnattended lists the actions that a model's decision may lead to without a person; none may be dangerous.
	// Default nil: apply_label, remove_label, mark_read, mark_unread, star, unstar, archive, move, snooze, restore,
	// escalate and none, which leave the message in the mailbox and can be undone exactly. Gmail empties the trash after
	// 30 days. A non-nil empty list permits only none. Whatever it lists, a snooze of more than two weeks needs a person,
	// and so does an action that hides an authenticated notice of a program that no list sends.
	ModelUnattended []postroom.ActionType

	// ModelShare limits how many messages of an account models may take out of the inbox without a person, by archive,
	// move, snooze, trash, or an action of the host's own. It is a fraction of the messages that were decided about within
	// 24 hours, of which each sender's domain counts for at most a tenth, and all unverified senders together are one.
	// Mail of lists whose domain vouches for it by DMARC is not counted, and not limited. Default 0.2; bounds: above 0, at
	// most 1.
	ModelShare float64

	// ModelFree is the number of messages that ModelShare does not limit. Default 5; bounds 1 to 1,000,000.
	ModelFree int

	// Recipients lists addresses, and domains in the form "@example.org", that a model may name as recipients besides
	// the sender of the message. Any other recipient needs a person. The list lets no dangerous action pass. Default none.
	Recipients []string

	// SendAge is how long ago a message may have come, when it is decided about, for something to be sent about it
	// without a person: a reply, a forward, or an action of the host's own with a recipient. Beyond it a person is asked.
	// Beyond it and 30 days the action is canceled. What waits after it was decided in time keeps its decision, and a rule
	// that a person applies to existing mail (rules.Apply) has no such age. Default 72h; negative: any age.
	SendAge time.Duration

	// Caps limit the actions without a person, by account, kind, source and period. Default none.
	Caps []limits.Cap

	// Breaker stops a source with unusual actions. The zero Breaker never opens.
	Breaker limits.Breaker

	// Quiet are hours in which only the listed actions are carried out. The zero Quiet has none.
	Quiet limits.Quiet
}

const (
	defaultThreshold = 0.7
	defaultShare     = 0.2
	defaultFree      = 5
	maxFree          = 1_000_000
)

func (p Policy) withDefaults(kinds *postroom.Kinds) (Policy, error) {
	if p.ConfidenceThreshold == 0 {
		p.ConfidenceThreshold = defaultThreshold
	}
	if !(p.ConfidenceThreshold > 0 && p.ConfidenceThreshold <= 1) {
		return p, fmt.Errorf("gate: Policy.ConfidenceThreshold is %v; it must be above 0 and at most 1",
			p.ConfidenceThreshold)
	}
	p.SendAge = cmp.Or(p.SendAge, defaultSendAge)
	if p.ApprovalAlways == nil {
		p.ApprovalAlways = []postroom.ActionType{postroom.Delete, postroom.Forward, postroom.AutoReply}
	}
	p.ApprovalAlways = slices.Clone(p.ApprovalAlways)
	for i, t := range p.ApprovalAlways {
		if !kinds.Knows(t) {
			return p, fmt.Errorf("gate: Policy.ApprovalAlways[%d] is %q, which is no action; the actions are %v",
				i, string(t), kinds.Types())
		}
	}
	p.Caps, p.Recipients = slices.Clone(p.Caps), slices.Clone(p.Recipients)
	p.Quiet.Spans, p.Quiet.May = slices.Clone(p.Quiet.Spans), slices.Clone(p.Quiet.May)
	breaker, err := p.Breaker.WithDefaults()
	p.Breaker = breaker
	if err := errors.Join(err, p.checkRecipients(), limits.CheckCaps(p.Caps, kinds), p.Quiet.Validate(kinds)); err != nil {
		return p, err
	}
	return p.withModelDefaults(kinds)
}

func (p Policy) withModelDefaults(kinds *postroom.Kinds) (Policy, error) {
	if p.ModelShare == 0 {
		p.ModelShare = defaultShare
	}
	if !(p.ModelShare > 0 && p.ModelShare <= 1) {
		return p, fmt.Errorf("gate: Policy.ModelShare is %v; it must be above 0 and at most 1", p.ModelShare)
	}
	if p.ModelFree == 0 {
		p.ModelFree = defaultFree
	}
	if p.ModelFree < 1 || p.ModelFree > maxFree {
		return p, fmt.Errorf("gate: Policy.ModelFree is %d; it must be within 1 and %d", p.ModelFree, maxFree)
	}
	if p.ModelUnattended == nil {
		p.ModelUnattended = modelAlone
	}
	p.ModelUnattended = slices.Clone(p.ModelUnattended)
	for i, t := range p.ModelUnattended {
		if !kinds.Knows(t) {
			return p, fmt.Errorf("gate: Policy.ModelUnattended[%d] is %q, which is no action; the actions are %v", i, string(t),
				kinds.Types())
		}
		if kinds.Has(t) && kinds.Danger(t) == postroom.Dangerous {
			return p,
				fmt.Errorf("gate: Policy.ModelUnattended[%d] is %s, which is dangerous: a person must approve it; leave it out", i, t)
		}
	}
	return p, nil
}

// checkRecipients checks Policy.Recipients.
func (p Policy) checkRecipients() error {
	for i, r := range p.Recipients {
		address := r
		if strings.HasPrefix(r, "@") {
			address = "anybody" + r
		}
		if a, err := mail.ParseAddress(address); err != nil || a.Address != address {
			return fmt.Errorf("gate: Policy.Recipients[%d] is %q; give an address, or a domain as in @example.org", i, r)
		}
	}
	return nil
}

// modelAlone are the kinds that a model may carry out alone by default: all leave the message in the mailbox and can
// be undone exactly.
var modelAlone = []postroom.ActionType{
	postroom.None, postroom.ApplyLabel, postroom.RemoveLabel, postroom.MarkRead, postroom.MarkUnread, postroom.Star,
	postroom.Unstar,
	postroom.Archive, postroom.Move, postroom.Snooze, postroom.Restore, postroom.Escalate,
}
