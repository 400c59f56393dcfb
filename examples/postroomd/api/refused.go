package api

import (
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/rules"
)

// checkRefused returns an error for a rule that is made in one piece, and would do what is refused.
func checkRefused(s *environment.Environment, rule *rules.Rule) error {
	refused := s.RefusedActions()
	for _, a := range append([]rules.RuleAction{{Type: rule.Action}}, rule.Also...) {
		if why := refused[a.Type]; why != "" && rule.Enabled {
			return fmt.Errorf("rule %q: action %s is refused here: %s", rule.Name, a.Type, why)
		}
	}
	return nil
}
