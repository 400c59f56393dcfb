package gmailfilter

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// ImportOptions are the options of [Import].
type ImportOptions struct {
	// Kinds are the actions that rules may have; nil means those that package gmail carries out.
	Kinds *postroom.Kinds
	// Owner is the address of the account, which filters call "me". If it is empty, a filter that says "me" is omitted.
	Owner string
}

// Import translates the filters of a Gmail account into rules: one for each filter, each of which lets the others be
// tried, since at Gmail all matching filters apply. A filter with an untranslatable criterion is omitted, since
// without it the rule would match other mail; so is one without a translatable action. Nil options are the zero
// [ImportOptions].
func Import(filters []Filter, options *ImportOptions) *rulesfile.Translation {
	options = cmp.Or(options, &ImportOptions{})
	kinds := options.Kinds
	t := rulesfile.NewTranslation()
	for i := range filters {
		f := &filters[i]
		of := fmt.Sprintf("filter %d", i+1)
		search := &search{owner: options.Owner}
		condition, err := f.condition(search)
		if err != nil {
			t.Untranslated = append(t.Untranslated, rulesfile.Untranslated{Of: of, What: err.Error(), Left: rulesfile.Skipped})
			continue
		}
		actions, lost := f.actions(of, kinds)
		if len(actions) == 0 {
			for _, u := range lost {
				t.Untranslated = append(t.Untranslated, rulesfile.Untranslated{Of: of, What: u.What, Left: rulesfile.Skipped})
			}
			if len(lost) == 0 {
				t.Untranslated = append(t.Untranslated, rulesfile.Untranslated{Of: of, What: "it does nothing",
					Left: rulesfile.Skipped})
			}
			continue
		}
		for _, what := range search.nearly {
			lost = append(lost, rulesfile.Untranslated{Of: of, What: what, Left: rulesfile.Approximate})
		}
		r := rules.NewRule(f.name(), condition, "", nil)
		translate.SetActions(&r, actions)
		r.Continue = true
		for _, a := range actions {
			if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
				t.NeedLabel(label)
			}
		}
		t.Add(r, lost)
	}
	return t
}

// name describes the mail that the filter finds.
func (f *Filter) name() string {
	var parts []string
	for _, part := range []struct{ word, text string }{{"from ", f.From}, {"to ", f.To}, {"subject ", f.Subject},
		{"", f.Query}, {"not ", f.NegatedQuery}} {
		if part.text != "" {
			parts = append(parts, part.word+part.text)
		}
	}
	if f.HasAttachment {
		parts = append(parts, "with attachment")
	}
	return strings.Join(parts, ", ")
}

func (f *Filter) condition(s *search) (rules.Condition, error) {
	var all []rules.Condition
	for _, part := range []struct {
		text   string
		field  string
		format string
	}{{f.From, "from", "from:(%s)"}, {f.To, "recipients", "to:(%s)"}, {f.Subject, "", "subject:(%s)"},
		{f.Query, "", "%s"}, {f.NegatedQuery, "", "-{%s}"}} {
		if strings.TrimSpace(part.text) == "" {
			continue
		}
		if c, ok := addressesOnly(part.field, part.text); ok {
			all = append(all, c)
			continue
		}
		if _, err := understood(part.text); err != nil { // a bracket may close that of the format
			return rules.Condition{}, err
		}
		c, err := s.condition(fmt.Sprintf(part.format, part.text))
		if err != nil {
			return rules.Condition{}, err
		}
		all = append(all, c)
	}
	if f.HasAttachment {
		all = append(all, rules.Condition{Type: rules.HasAttachment})
	}
	if f.SizeComparison != "" {
		kind := map[string]rules.Kind{"larger": rules.LargerThan, "smaller": rules.SmallerThan}[f.SizeComparison]
		if kind == "" {
			return rules.Condition{}, fmt.Errorf("the size comparison %q is not known", f.SizeComparison)
		}
		all = append(all, rules.Condition{Type: kind, Value: translate.SizeText(f.Size)})
	}
	if len(all) == 0 {
		return rules.Condition{}, errors.New("it has no criteria")
	}
	c := translate.Joined(rules.And, all)
	return c, c.Validate()
}

var (
	alternatives = regexp.MustCompile(`(?i)\s+or\s+|\s*\|\s*`)
	wholeAddress = regexp.MustCompile(`^[^\s@"(){}<>,:*-][^\s@"(){}<>,:*]*@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$`)
	wholeDomain  = regexp.MustCompile(`^(?:\*?@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})$`)
)

// addressesOnly translates a search in an address field that names whole addresses or domains, the way people write
// most of them. Gmail would also find these words elsewhere in the field, where anyone can write them; that is hardly
// intended.
func addressesOnly(field, text string) (rules.Condition, bool) {
	if field == "" {
		return rules.Condition{}, false
	}
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") {
		text = strings.TrimSuffix(inner, ")")
	}
	separated := alternatives.Split(text, -1)
	if inner, ok := strings.CutPrefix(text, "{"); ok && strings.HasSuffix(inner, "}") {
		separated = strings.Fields(strings.TrimSuffix(inner, "}"))
	}
	var whole, domains []string
	for _, part := range separated {
		part = strings.Trim(strings.TrimSpace(part), `"`)
		switch domain := wholeDomain.FindStringSubmatch(part); {
		case wholeAddress.MatchString(part):
			whole = append(whole, part)
		case domain != nil:
			domains = append(domains, domain[1], "*."+domain[1])
		default:
			return rules.Condition{}, false
		}
	}
	var either []rules.Condition
	if len(whole) > 0 {
		either = append(either, translate.WithValues(rules.Condition{Type: rules.Address, Fields: []string{field}}, whole))
	}
	if len(domains) > 0 {
		either = append(either, translate.WithValues(rules.Condition{Type: rules.Address, Fields: []string{field},
			Part: rules.PartDomain, Match: rules.Wildcard}, domains))
	}
	return translate.Joined(rules.Or, either), len(either) > 0
}

// Actions returns the actions of the filter, and those that rules lack.
func (f *Filter) actions(of string, kinds *postroom.Kinds) (actions []rules.RuleAction, lost []rulesfile.Untranslated) {
	lose := func(what string) {
		lost = append(lost, rulesfile.Untranslated{Of: of, What: what, Left: rulesfile.Partial})
	}
	archives := slices.Contains(f.RemoveLabels, postroom.LabelInbox)
	for _, label := range f.AddLabels {
		switch {
		case label == postroom.LabelStarred:
			actions = append(actions, rules.RuleAction{Type: postroom.Star})
		case label == postroom.LabelTrash:
			actions = append(actions, rules.RuleAction{Type: postroom.Trash})
		case label == postroom.LabelSpam:
			lose("rules do not send mail to the spam")
		case archives && !rules.IsSystemLabel(label):
			actions = append(actions, translate.LabelAction(postroom.Move, label))
			archives = false
		default:
			actions = append(actions, translate.LabelAction(postroom.ApplyLabel, label))
		}
	}
	for _, label := range f.RemoveLabels {
		switch label {
		case postroom.LabelInbox:
			if archives {
				actions = append(actions, rules.RuleAction{Type: postroom.Archive})
			}
		case postroom.LabelUnread:
			actions = append(actions, rules.RuleAction{Type: postroom.MarkRead})
		case postroom.LabelSpam:
			lose("rules decide after Gmail's spam filter, and cannot keep mail out of the spam")
		default:
			actions = append(actions, translate.LabelAction(postroom.RemoveLabel, label))
		}
	}
	if f.Forward != "" {
		actions = append(actions, rules.RuleAction{Type: postroom.Forward, Parameters: postroom.Parameters{"to": f.Forward}})
	}
	actions = slices.DeleteFunc(actions, func(a rules.RuleAction) bool {
		err := translate.Translatable(a, kinds)
		if err != nil {
			lose(err.Error())
		}
		return err != nil
	})
	return translate.WithParameters(actions), lost
}
