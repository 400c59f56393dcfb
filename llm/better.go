package llm

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
)

const defaultBetterBelow = 0.8

func (c *Config) checkBetter() error {
	if err := fields.Optional("llm: Config.Better", c.Better); err != nil {
		return err
	}
	if c.BetterBelow == 0 {
		c.BetterBelow = defaultBetterBelow
	}
	if !(c.BetterBelow > 0 && c.BetterBelow <= 1) {
		return fmt.Errorf("llm: Config.BetterBelow is %v; it must be above 0 and at most 1", c.BetterBelow)
	}
	return nil
}

// ask asks the model, and a better one where the first is not sure.
func (d *Decider) ask(ctx context.Context, msg *postroom.Message, g Guidance, p *Prompt) (postroom.Decision, error) {
	first, open, err := d.askOne(ctx, d.cfg.Client, msg, g, p)
	if err != nil || !open || d.cfg.Better == nil {
		return first, Verdict(err)
	}
	better, _, err := d.askOne(ctx, d.cfg.Better, msg, g, p)
	switch {
	case err == nil:
		return afterFirst(better, first), nil
	case waitsForPerson(err):
		return withoutBetter(first, err), nil
	}
	return postroom.Decision{}, Verdict(err)
}

// afterFirst returns the better model's decision, with the first one's proposal.
func afterFirst(better, first postroom.Decision) postroom.Decision {
	better.Explanations.SalientFeatures = append(better.Explanations.SalientFeatures,
		fmt.Sprintf("%s was asked first and proposed %s with confidence %.2f", first.Model, first.Action, first.Confidence))
	return better
}

// waitsForPerson reports whether the better model is unavailable until a person acts or another day begins: mail does not wait so
// long for a second opinion.
func waitsForPerson(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.needsPerson() || errors.Is(e, ErrBudget))
}

// withoutBetter returns the first model's uncertain decision, for a person to look at.
func withoutBetter(first postroom.Decision, err error) postroom.Decision {
	e, _ := errors.AsType[*Error](err)
	first.NeedsApproval = true
	first.Explanations.SalientFeatures = append(first.Explanations.SalientFeatures,
		fmt.Sprintf("the model was not sure (%.2f), and the better one could not be asked: %v", first.Confidence, reasonOf(e)))
	return first
}
