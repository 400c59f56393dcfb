package enrichment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/safety"
)

// named tells the category of a message that has a label with the name of one, or gets it by a rule: the owner says so.
// The last part of the name of a nested label counts as well.
func (c *Config) named(categories []enrich.Category) func(context.Context, *postroom.Message) (enrich.Facts, error) {
	if categories == nil {
		categories = enrich.DefaultCategories()
	}
	of := make(map[string]string, len(categories)) // category by small letters
	for _, category := range categories {
		of[strings.ToLower(category.Name)] = category.Name
	}
	return func(ctx context.Context, msg *postroom.Message) (f enrich.Facts, err error) {
		labels, err := c.Mail.Labels(ctx, msg.AccountID)
		if err != nil {
			return f, err
		}
		named := map[string]string{} // category by the id of a label
		for _, l := range labels {
			name := strings.ToLower(l.Name[strings.LastIndex(l.Name, "/")+1:])
			if category := of[name]; category != "" && l.Type == postroom.LabelUser {
				named[l.ID] = category
			}
		}
		if len(named) == 0 {
			return f, nil
		}
		if i := slices.IndexFunc(msg.LabelIDs, func(id string) bool { return named[id] != "" }); i >= 0 {
			return categoryOf(named[msg.LabelIDs[i]], "it has the label of this name"), nil
		}
		return c.ruled(ctx, msg, named)
	}
}

// ruled tells the category of the label that a rule has decided to put on a message.
func (c *Config) ruled(ctx context.Context, msg *postroom.Message, named map[string]string) (f enrich.Facts,
	err error) {
	decided, err := c.Decisions(ctx, safety.Filter{AccountID: msg.AccountID, MessageID: msg.ID, Limit: 20,
		Sources: []postroom.Source{postroom.SourceDeterministic},
		States:  []postroom.ActionState{postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionCompleted}})
	for i := range decided {
		label, ok := decided[i].Decision.Parameters.Text(postroom.ParamLabel)
		if category := named[label]; ok && category != "" {
			rule := decided[i].Decision.RuleName
			return categoryOf(category, fmt.Sprintf("the rule %s gives it the label of this name", rule)), nil
		}
	}
	return f, err
}

func categoryOf(name, why string) enrich.Facts {
	return enrich.Facts{Category: name, CategoryTold: enrich.Told{By: enrich.ByHost, Confidence: 1, Reasoning: why}}
}
