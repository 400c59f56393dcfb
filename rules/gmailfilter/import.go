package gmailfilter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Import translates the filters of a Gmail account into rules: one for each filter, each of which lets the others be tried,
// since at Gmail all matching filters apply. A filter with an untranslatable criterion is omitted, since without it the rule
// would match other mail; so is one without a translatable action. The kinds are the actions that rules may have; nil means those
// that package gmail carries out.
func Import(filters []Filter, kinds *postroom.Kinds) *rulesfile.Translation {
	t := rulesfile.NewTranslation()
	for i := range filters {
		f := &filters[i]
		of := fmt.Sprintf("filter %d", i+1)
		condition, err := f.condition()
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
				t.Untranslated = append(t.Untranslated, rulesfile.Untranslated{Of: of, What: "it does nothing", Left: rulesfile.Skipped})
			}
			continue
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
	for _, part := range []struct{ word, text string }{{"from ", f.From}, {"to ", f.To}, {"subject ", f.Subject}, {"", f.Query}, {"not ", f.NegatedQuery}} {
		if part.text != "" {
			parts = append(parts, part.word+part.text)
		}
	}
	if f.HasAttachment {
		parts = append(parts, "with attachment")
	}
	return strings.Join(parts, ", ")
}

func (f *Filter) condition() (rules.Condition, error) {
	var all []rules.Condition
	for _, part := range []struct {
		text   string
		field  string
		format string
	}{{f.From, "from", "from:(%s)"}, {f.To, "recipients", "to:(%s)"}, {f.Subject, "", "subject:(%s)"}, {f.Query, "", "%s"}, {f.NegatedQuery, "", "-{%s}"}} {
		if strings.TrimSpace(part.text) == "" {
			continue
		}
		if c, ok := addressesOnly(part.field, part.text); ok {
			all = append(all, c)
			continue
		}
		c, err := searchCondition(fmt.Sprintf(part.format, part.text))
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

// addressesOnly translates a search in an address field that names whole addresses or domains, the way people write most of them.
// Gmail would also find these words elsewhere in the field, where anyone can write them; that is hardly intended.
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
		either = append(either, translate.WithValues(rules.Condition{Type: rules.Address, Fields: []string{field}, Part: rules.PartDomain, Match: rules.Wildcard}, domains))
	}
	return translate.Joined(rules.Or, either), len(either) > 0
}

// searchCondition translates a search in Gmail's language.
func searchCondition(query string) (rules.Condition, error) {
	if strings.ContainsFunc(query, func(r rune) bool { return r >= 0x80 }) {
		return rules.Condition{}, fmt.Errorf("%q has letters beyond ASCII, which Gmail compares without accents and rules do not", query)
	}
	parsed, err := gmailquery.Parse(query, gmailquery.Options{Now: time.Now()})
	if err != nil {
		return rules.Condition{}, fmt.Errorf("%q: %w", query, err)
	}
	if parsed.Root == nil {
		return rules.Condition{}, fmt.Errorf("%q finds all mail", query)
	}
	c, err := nodeCondition(parsed.Root)
	if err != nil {
		return rules.Condition{}, fmt.Errorf("%q: %w", query, err)
	}
	return c, nil
}

func nodeCondition(n gmailquery.Node) (rules.Condition, error) {
	switch n := n.(type) {
	case gmailquery.And:
		return nodesCondition(rules.And, n)
	case gmailquery.Or:
		return nodesCondition(rules.Or, n)
	case gmailquery.Not:
		c, err := nodeCondition(n.Node)
		return rules.NoneOf(c), err
	case gmailquery.Phrase:
		return phraseCondition(n)
	case gmailquery.Label:
		return labelCondition(n.Key)
	case gmailquery.Size:
		kind := rules.SmallerThan
		if n.Larger {
			kind = rules.LargerThan
		}
		return rules.Condition{Type: kind, Value: translate.SizeText(n.Bytes)}, nil
	case gmailquery.Mark:
		if n.Name == "attachment" {
			return rules.Condition{Type: rules.HasAttachment}, nil
		}
		return rules.Condition{}, fmt.Errorf("has:%s has no condition", n.Name)
	case gmailquery.Date:
		return rules.Condition{}, errors.New("a date of arrival or an age says nothing about mail that arrives")
	case gmailquery.Around:
		return rules.Condition{}, errors.New("AROUND has no condition")
	default:
		return rules.Condition{}, fmt.Errorf("%s has no condition", n)
	}
}

func nodesCondition(op rules.Op, nodes []gmailquery.Node) (rules.Condition, error) {
	children := make([]rules.Condition, len(nodes))
	for i, n := range nodes {
		var err error
		if children[i], err = nodeCondition(n); err != nil {
			return rules.Condition{}, err
		}
	}
	return translate.Joined(op, children), nil
}

// labelCondition looks for a label by its key in searches.
func labelCondition(key string) (rules.Condition, error) {
	id := strings.ToUpper(strings.Replace(key, "category-", "category_", 1))
	if !rules.IsSystemLabel(id) {
		return rules.Condition{}, fmt.Errorf("label:%s: mail that arrives has no labels of one's own", key)
	}
	return rules.Condition{Type: rules.LabelPresent, Value: id}, nil
}

// phraseCondition matches words as Gmail does: whole and adjacent, with any separators.
func phraseCondition(n gmailquery.Phrase) (rules.Condition, error) {
	const edge, between = `[^\pL\pN]`, `[^\pL\pN]+`
	pattern := `(?i)(?:^|` + edge + `)` + strings.Join(lists.Texts(n.Words, regexp.QuoteMeta), between) + `(?:$|` + edge + `)`
	text := func(kind rules.Kind) rules.Condition {
		return rules.Condition{Type: kind, Match: rules.Regex, Value: pattern}
	}
	inField := func(fields ...string) rules.Condition {
		of := rules.Condition{Type: rules.Address, Fields: fields, Match: rules.Regex, Value: pattern}
		name := of
		name.Part = rules.PartName
		return rules.AnyOf(of, name)
	}
	inHeaders := func(names ...string) rules.Condition {
		return rules.Condition{Type: rules.Header, Fields: names, Match: rules.Regex, Value: pattern}
	}
	switch n.Field {
	case gmailquery.Sender:
		return inField("from"), nil
	case gmailquery.Recipient:
		return inField("recipients"), nil
	case gmailquery.CC:
		return inField("cc"), nil
	case gmailquery.BCC:
		return inField("bcc"), nil
	case gmailquery.Subject:
		return text(rules.Subject), nil
	case gmailquery.Body:
		return text(rules.Body), nil
	case gmailquery.Filename:
		return text(rules.AttachmentName), nil
	case gmailquery.List:
		return inHeaders("List-Id", "List-Post"), nil
	case gmailquery.Delivered:
		return inHeaders("Delivered-To", "X-Delivered-To"), nil
	case gmailquery.Anywhere:
		return translate.Joined(rules.Or, []rules.Condition{text(rules.Subject), text(rules.Body), inField("from", "recipients"), text(rules.AttachmentName)}), nil
	}
	return rules.Condition{}, fmt.Errorf("a search in %s has no condition", n.Field)
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
