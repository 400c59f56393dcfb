package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// DecideMeant has the rules decide about a message that ask what it means, when that is known: with Meanings in the
// configuration, such rules do not match before. What the others have decided as it came stands. It records each
// decision once, so it may be called again, as by the jobs that find out what mail means. It must not be called inside
// a write transaction, and does nothing in a dry run, and about mail that nothing is decided about.
func (p *Pipeline) DecideMeant(ctx context.Context, msg *postroom.Message) error {
	if p.cfg.Safety.DryRun || slices.ContainsFunc(p.skipLabels(), msg.HasLabel) {
		return nil
	}
	if p.gate.holds(ctx, msg.AccountID) {
		return queue.Defer(rules.ErrNotStored, time.Minute)
	}
	_, err := rules.Apply(ctx, rules.ApplyConfig{Engine: p.Engine, Meant: true, Labels: p.Mail, Ledger: p.Ledger,
		Decided: p.hasDecided, People: p.Undoer, Now: p.cfg.Now,
		Messages: func(yield func(*postroom.Message, error) bool) { yield(msg, nil) }})
	return err
}

// skipLabels are those of the configuration of package gmail.
func (p *Pipeline) skipLabels() []string {
	if l := p.cfg.Gmail.SkipLabels; l != nil {
		return l
	}
	return []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}
}

// besides is that of the configuration of package rules: an answer while the owner is away, and what the host records.
func (p *Pipeline) besides(ledger rules.Ledger) func(ctx context.Context, msg *postroom.Message,
	decided []postroom.Decision) (func(ctx context.Context, tx queue.Tx) error, error) {
	away := p.beside(ledger)
	if p.cfg.OnDecided == nil || p.cfg.Safety.DryRun {
		return away
	}
	return func(ctx context.Context, msg *postroom.Message, decided []postroom.Decision) (
		func(ctx context.Context, tx queue.Tx) error, error) {
		var answer func(ctx context.Context, tx queue.Tx) error
		if away != nil {
			var err error
			if answer, err = away(ctx, msg, decided); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, tx queue.Tx) error {
			if answer != nil {
				if err := answer(ctx, tx); err != nil {
					return err
				}
			}
			return p.cfg.OnDecided(ctx, tx, msg, decided)
		}, nil
	}
}
