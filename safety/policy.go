package safety

import (
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// A Policy configures a [Gate]. The zero Policy uses the defaults. No policy lets a dangerous action pass without approval. Only
// a rule of the user does, stored with [postroom.SafeDangerousOverride].
type Policy struct {
	// ConfidenceThreshold is the confidence below which a decision needs approval; a decision at the threshold passes. Default
	// 0.7; bounds: above 0, at most 1.
	ConfidenceThreshold float64

	// ApprovalAlways lists the actions that need approval whatever the confidence. Default nil: delete, forward, auto_reply and
	// escalate. A non-nil empty list lists none.
	ApprovalAlways []postroom.ActionType

	// ModelUnattended lists the actions that a model's decision may lead to without a person; none may be dangerous. Default nil:
	// apply_label, remove_label, mark_read, mark_unread, star, unstar, archive, move, snooze, trash, restore and none, which
	// leave the message in the mailbox and can be undone exactly. A non-nil empty list permits only none.
	ModelUnattended []postroom.ActionType

	// ModelShare limits how many messages of an account models may take out of the inbox without a person, by archive, move,
	// snooze, trash, or an action of the host's own. It is the fraction of all messages that were decided about within 24 hours.
	// Default 0.5; bounds: above 0, at most 1.
	ModelShare float64

	// ModelFree is the number of messages that ModelShare does not limit. Default 20; bounds 1 to 1,000,000.
	ModelFree int

	// Recipients lists addresses, and domains in the form "@example.org", that a model may name as recipients besides those in
	// the message. Any other recipient needs a person. The list lets no dangerous action pass. Default none.
	Recipients []string

	// Caps limit the actions without a person, by account, kind, source and period. Default none.
	Caps []Cap

	// Breaker stops a source with unusual actions. The zero Breaker never opens.
	Breaker Breaker

	// Quiet are hours in which only the listed actions are carried out. The zero Quiet has none.
	Quiet Quiet
}

const (
	defaultThreshold = 0.7
	defaultShare     = 0.5
	defaultFree      = 20
	maxFree          = 1_000_000
)

func (p Policy) withDefaults(kinds *postroom.Kinds) (Policy, error) {
	if p.ConfidenceThreshold == 0 {
		p.ConfidenceThreshold = defaultThreshold
	}
	if !(p.ConfidenceThreshold > 0 && p.ConfidenceThreshold <= 1) {
		return p, fmt.Errorf("safety: Policy.ConfidenceThreshold is %v; it must be above 0 and at most 1", p.ConfidenceThreshold)
	}
	if p.ApprovalAlways == nil {
		p.ApprovalAlways = []postroom.ActionType{postroom.Delete, postroom.Forward, postroom.AutoReply, postroom.Escalate}
	}
	p.ApprovalAlways = slices.Clone(p.ApprovalAlways)
	for i, t := range p.ApprovalAlways {
		if !kinds.Knows(t) {
			return p, fmt.Errorf("safety: Policy.ApprovalAlways[%d] is %q, which is no action; the actions are %v",
				i, string(t), kinds.Types())
		}
	}
	p.Caps, p.Recipients = slices.Clone(p.Caps), slices.Clone(p.Recipients)
	p.Quiet.Spans, p.Quiet.May = slices.Clone(p.Quiet.Spans), slices.Clone(p.Quiet.May)
	breaker, err := p.Breaker.withDefaults()
	p.Breaker = breaker
	if err := errors.Join(err, p.checkRecipients(), p.validateCaps(kinds), p.Quiet.validate(kinds)); err != nil {
		return p, err
	}
	return p.withModelDefaults(kinds)
}

func (p Policy) withModelDefaults(kinds *postroom.Kinds) (Policy, error) {
	if p.ModelShare == 0 {
		p.ModelShare = defaultShare
	}
	if !(p.ModelShare > 0 && p.ModelShare <= 1) {
		return p, fmt.Errorf("safety: Policy.ModelShare is %v; it must be above 0 and at most 1", p.ModelShare)
	}
	if p.ModelFree == 0 {
		p.ModelFree = defaultFree
	}
	if p.ModelFree < 1 || p.ModelFree > maxFree {
		return p, fmt.Errorf("safety: Policy.ModelFree is %d; it must be within 1 and %d", p.ModelFree, maxFree)
	}
	if p.ModelUnattended == nil {
		p.ModelUnattended = modelAlone
	}
	p.ModelUnattended = slices.Clone(p.ModelUnattended)
	for i, t := range p.ModelUnattended {
		if !kinds.Knows(t) {
			return p, fmt.Errorf("safety: Policy.ModelAlone[%d] is %q, which is no action; the actions are %v", i, string(t), kinds.Types())
		}
		if kinds.Has(t) && kinds.Danger(t) == postroom.Dangerous {
			return p, fmt.Errorf("safety: Policy.ModelAlone[%d] is %s, which is dangerous: a person must approve it; leave it out", i, t)
		}
	}
	return p, nil
}
