package pipeline

import (
	"context"

	"github.com/postroom-go/postroom/queue"
)

// ReloadRules asks for the rules of an account again, makes the labels that they need, and stores them; see
// [Config].Rules. It is for a running pipeline whose host has other rules by now. If it fails, the stored rules stay.
// Of an account that is not set up yet it does nothing: setting it up asks for the rules.
func (p *Pipeline) ReloadRules(ctx context.Context, accountID string) error {
	if p.cfg.Rules == nil || p.gate.holds(ctx, accountID) {
		return nil
	}
	account, err := p.Mail.Account(ctx, accountID)
	if err != nil {
		return err
	}
	again := &setup{Pipeline: p, account: account, start: p.enqueue,
		await: func(ctx context.Context, job queue.NewJob) error { return p.awaitJob(ctx, job, nil) }}
	return again.takeRules(ctx)
}
