package decide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
)

const defaultEscalateBelow = 0.8

func (c *Config) checkEscalation() error {
	if err := fields.Optional("llm/decide: Config.Escalation", c.Escalation); err != nil {
		return err
	}
	if c.EscalateBelow == 0 {
		c.EscalateBelow = defaultEscalateBelow
	}
	if !(c.EscalateBelow > 0 && c.EscalateBelow <= 1) {
		return fmt.Errorf("llm/decide: Config.EscalateBelow is %v; it must be above 0 and at most 1", c.EscalateBelow)
	}
	return nil
}

// ask asks the models when it is the turn of the message. A message that has to wait does so the longer, the older it
// is: the newest is first.
func (d *Decider) ask(ctx context.Context, msg *postroom.Message, g Guidance, p *Prompt) (postroom.Decision, error) {
	var taken turn
	if d.cfg.Turns != nil {
		var err error
		if taken, err = d.cfg.Turns.take(ctx, msg, isVerified(msg, d.cfg.AuthServer)); err != nil {
			return postroom.Decision{}, llm.HandlerErrorBehind(err, behind(msg, time.Now()))
		}
	}
	decision, err := d.askModels(ctx, msg, g, p)
	if err != nil {
		return postroom.Decision{}, errors.Join(llm.HandlerErrorBehind(err, behind(msg, time.Now())),
			taken.giveBack(context.WithoutCancel(ctx)))
	}
	p.showed(&decision)
	return decision, nil
}

// askModels asks the model, and the escalation model where the first is not sure.
func (d *Decider) askModels(ctx context.Context, msg *postroom.Message, g Guidance, p *Prompt) (postroom.Decision,
	error) {
	first, open, err := d.askOne(ctx, d.cfg.Client, msg, g, p)
	if err != nil || !open || d.cfg.Escalation == nil {
		return first, err
	}
	second, _, err := d.askOne(ctx, d.cfg.Escalation, msg, g, p)
	switch {
	case err == nil:
		return afterFirst(second, first, p), nil
	case waitsForPerson(err):
		return withoutEscalation(first, err), nil
	}
	return postroom.Decision{}, err
}

// afterFirst returns the escalation model's decision, with the first one's proposal.
func afterFirst(second, first postroom.Decision, p *Prompt) postroom.Decision {
	second.Enrichment = p.withFirst(second.Enrichment, first.Enrichment)
	second.Explanations.SalientFeatures = append(second.Explanations.SalientFeatures,
		fmt.Sprintf("%s was asked first and proposed %s with confidence %.2f", first.Model, first.Action, first.Confidence))
	return second
}

// waitsForPerson reports whether the escalation model is unavailable until a person acts or another day begins: mail
// does not wait so long for a second opinion.
func waitsForPerson(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && (e.NeedsPerson() || errors.Is(e, llm.ErrBudget))
}

// withoutEscalation returns the first model's uncertain decision, for a person to look at.
func withoutEscalation(first postroom.Decision, err error) postroom.Decision {
	e, _ := errors.AsType[*llm.Error](err)
	first.NeedsApproval = true
	first.Explanations.SalientFeatures = append(first.Explanations.SalientFeatures,
		fmt.Sprintf("the model was not sure (%.2f), and the escalation model could not be asked: %v",
			first.Confidence, reasonOf(e)))
	return first
}
