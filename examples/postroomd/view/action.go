package view

import (
	"github.com/postroom-go/postroom"
)

// DecidedBy names the rule that has decided, or the source of the decision.
func DecidedBy(d postroom.Decision) string {
	if d.RuleName != "" {
		return d.RuleName
	}
	return string(d.Source)
}
