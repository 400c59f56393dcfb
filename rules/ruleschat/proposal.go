package ruleschat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

var errNothing = errors.New(
	"the proposal changes nothing; give rules to add or replace, or names to remove, or answer without the tool")

// apply returns the file with the proposal.
func (c *Chat) apply(current *rulesfile.File, p *Proposal) (*rulesfile.File, error) {
	change := rulesfile.Revision{Remove: p.Remove}
	if strings.TrimSpace(p.Rules) != "" {
		// A model names no files: what is beside the rules may be anything.
		options := append(slices.Clone(c.options), rulesfile.WithFiles(nil), rulesfile.WithNow(time.Now()))
		proposed, err := rulesfile.Parse("proposal", strings.NewReader(p.Rules), options...)
		if err != nil {
			return nil, err
		}
		if len(proposed.Tests) > 0 {
			return nil, errors.New("the tests of a file are the person's; leave tests out")
		}
		change.Rules, change.Labels = proposed.Rules, proposed.Labels
	}
	if len(change.Rules)+len(change.Remove) == 0 {
		return nil, errNothing
	}
	for i := range change.Rules {
		if err := proposable(&change.Rules[i]); err != nil {
			return nil, err
		}
	}
	file, err := current.Revise(change, c.options...)
	if err == nil && len(rulesfile.Differences(current.Rules, file.Rules)) == 0 {
		err = errNothing
	}
	return file, err
}

// proposable returns an error for parts that only a person may write.
func proposable(r *rules.Rule) error {
	if r.SafeMode == postroom.SafeDangerousOverride {
		return fmt.Errorf("rule %q has safe_mode %s, which only a person may write; leave safe_mode out", r.Name, r.SafeMode)
	}
	for _, c := range r.Name {
		if unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Errorf("the name of rule %+q has the invisible character %U; leave it out", r.Name, c)
		}
	}
	return nil
}

// labels returns an error for labels that rules of the file name and that nobody would create.
func (c *Chat) labels(file *rulesfile.File, turn Turn) error {
	there := func(label string) bool {
		same := func(name string) bool { return strings.EqualFold(name, label) }
		// otherwise it is one of Gmail's own
		return slices.ContainsFunc(file.Labels, same) || postroom.CheckLabelName(label) != nil ||
			slices.ContainsFunc(turn.Labels, func(l postroom.Label) bool { return same(l.Name) || l.ID == label })
	}
	var faults []error
	for i := range file.Rules {
		r := &file.Rules[i]
		if slices.ContainsFunc(turn.Rules.Rules, func(old rules.Rule) bool {
			return old.Name == r.Name && old.Version() == r.Version()
		}) {
			continue
		}
		for _, a := range append([]rules.RuleAction{{Type: r.Action, Parameters: r.Parameters}}, r.Also...) {
			for _, name := range c.cfg.Kinds.LabelParameters(a.Type) {
				if label, ok := a.Parameters.Text(name); ok && !there(label) {
					faults = append(faults, fmt.Errorf(
						"rule %q: there is no label %q; name one of the mailbox, or list it below labels, so that it is created",
						r.Name, label))
				}
			}
		}
	}
	return errors.Join(faults...)
}
