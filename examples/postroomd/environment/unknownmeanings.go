package environment

import (
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// UnknownMeanings is for reading rules: it warns of conditions that ask what is never found out about the meaning of
// mail, since the stage that would find it out is off.
func (s *Environment) UnknownMeanings() rulesfile.ParseOption {
	unknown := map[rules.Kind]string{}
	for kind, stage := range map[rules.Kind]enrich.Stage{rules.Topic: enrich.StageCategory,
		rules.Priority: enrich.StageImportance, rules.HasActionItems: enrich.StageImportance,
		rules.HasEvent: enrich.StageCalendar} {
		switch {
		case !s.Config.Enrich.Enabled:
			unknown[kind] = "enrich.enabled is false; set it to true"
		case !slices.Contains(s.Config.Enrich.Stages, string(stage)):
			unknown[kind] = fmt.Sprintf("enrich.stages is without %q; add it", stage)
		}
	}
	return rulesfile.WithUnknown(unknown)
}
