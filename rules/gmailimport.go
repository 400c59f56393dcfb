package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

// FromGmail translates the filters of a Gmail account into rules: one for each filter, each of which lets the others be tried,
// since at Gmail all matching filters apply. A filter with an untranslatable criterion is omitted, since without it the rule
// would match other mail; so is one without a translatable action. The kinds are the actions that rules may have; nil means those
// that package gmail carries out.
func FromGmail(filters []GmailFilter, kinds *postroom.Kinds) *Translation {
	t := newTranslation()
	for i := range filters {
		f := &filters[i]
		of := fmt.Sprintf("filter %d", i+1)
		condition, err := f.condition()
		if err != nil {
			t.Untranslated = append(t.Untranslated, Untranslated{of, err.Error(), LeftOut})
			continue
		}
		actions, lost := f.actions(of, kinds)
		if len(actions) == 0 {
			for _, u := range lost {
				t.Untranslated = append(t.Untranslated, Untranslated{of, u.What, LeftOut})
			}
			if len(lost) == 0 {
				t.Untranslated = append(t.Untranslated, Untranslated{of, "it does nothing", LeftOut})
			}
			continue
		}
		r := NewRule(f.name(), condition, "", nil)
		setActions(&r, actions)
		r.Continue = true
		for _, a := range actions {
			if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
				t.needLabel(label)
			}
		}
		t.add(r, lost)
	}
	return t
}

// name describes the mail that the filter finds.
func (f *GmailFilter) name() string {
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

func (f *GmailFilter) condition() (Condition, error) {
	var all []Condition
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
			return Condition{}, err
		}
		all = append(all, c)
	}
	if f.HasAttachment {
		all = append(all, Condition{Type: HasAttachment})
	}
	if f.SizeComparison != "" {
		kind := map[string]Kind{"larger": LargerThan, "smaller": SmallerThan}[f.SizeComparison]
		if kind == "" {
			return Condition{}, fmt.Errorf("the size comparison %q is not known", f.SizeComparison)
		}
		all = append(all, Condition{Type: kind, Value: sizeText(f.Size)})
	}
	if len(all) == 0 {
		return Condition{}, errors.New("it has no criteria")
	}
	c := joined(And, all)
	return c, c.Validate()
}

var (
	alternatives = regexp.MustCompile(`(?i)\s+or\s+|\s*\|\s*`)
	wholeAddress = regexp.MustCompile(`^[^\s@"(){}<>,:*-][^\s@"(){}<>,:*]*@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$`)
	wholeDomain  = regexp.MustCompile(`^(?:\*?@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})$`)
)

// addressesOnly translates a search in an address field that names whole addresses or domains, the way people write most of them.
// Gmail would also find these words elsewhere in the field, where anyone can write them; that is hardly intended.
func addressesOnly(field, text string) (Condition, bool) {
	if field == "" {
		return Condition{}, false
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
			return Condition{}, false
		}
	}
	var either []Condition
	if len(whole) > 0 {
		either = append(either, withValues(Condition{Type: Address, Fields: []string{field}}, whole))
	}
	if len(domains) > 0 {
		either = append(either, withValues(Condition{Type: Address, Fields: []string{field}, Part: partDomain, Match: Wildcard}, domains))
	}
	return joined(Or, either), len(either) > 0
}

// searchCondition translates a search in Gmail's language.
func searchCondition(query string) (Condition, error) {
	if strings.ContainsFunc(query, func(r rune) bool { return r >= 0x80 }) {
		return Condition{}, fmt.Errorf("%q has letters beyond ASCII, which Gmail compares without accents and rules do not", query)
	}
	parsed, err := gmailquery.Parse(query, gmailquery.Options{Now: time.Now()})
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", query, err)
	}
	if parsed.Root == nil {
		return Condition{}, fmt.Errorf("%q finds all mail", query)
	}
	c, err := nodeCondition(parsed.Root)
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", query, err)
	}
	return c, nil
}

func nodeCondition(n gmailquery.Node) (Condition, error) {
	switch n := n.(type) {
	case gmailquery.And:
		return nodesCondition(And, n)
	case gmailquery.Or:
		return nodesCondition(Or, n)
	case gmailquery.Not:
		c, err := nodeCondition(n.Node)
		return NoneOf(c), err
	case gmailquery.Phrase:
		return phraseCondition(n)
	case gmailquery.Label:
		return labelCondition(n.Key)
	case gmailquery.Size:
		kind := SmallerThan
		if n.Larger {
			kind = LargerThan
		}
		return Condition{Type: kind, Value: sizeText(n.Bytes)}, nil
	case gmailquery.Mark:
		if n.Name == "attachment" {
			return Condition{Type: HasAttachment}, nil
		}
		return Condition{}, fmt.Errorf("has:%s has no condition", n.Name)
	case gmailquery.Date:
		return Condition{}, errors.New("a date of arrival or an age says nothing about mail that arrives")
	case gmailquery.Around:
		return Condition{}, errors.New("AROUND has no condition")
	default:
		return Condition{}, fmt.Errorf("%s has no condition", n)
	}
}

func nodesCondition(op Op, nodes []gmailquery.Node) (Condition, error) {
	children := make([]Condition, len(nodes))
	for i, n := range nodes {
		var err error
		if children[i], err = nodeCondition(n); err != nil {
			return Condition{}, err
		}
	}
	return joined(op, children), nil
}

// labelCondition looks for a label by its key in searches.
func labelCondition(key string) (Condition, error) {
	id := strings.ToUpper(strings.Replace(key, "category-", "category_", 1))
	if !systemLabel(id) {
		return Condition{}, fmt.Errorf("label:%s: mail that arrives has no labels of one's own", key)
	}
	return Condition{Type: LabelPresent, Value: id}, nil
}

// phraseCondition matches words as Gmail does: whole and adjacent, with any separators.
func phraseCondition(n gmailquery.Phrase) (Condition, error) {
	const edge, between = `[^\pL\pN]`, `[^\pL\pN]+`
	pattern := `(?i)(?:^|` + edge + `)` + strings.Join(mapped(n.Words, regexp.QuoteMeta), between) + `(?:$|` + edge + `)`
	text := func(kind Kind) Condition { return Condition{Type: kind, Match: Regex, Value: pattern} }
	inField := func(fields ...string) Condition {
		of := Condition{Type: Address, Fields: fields, Match: Regex, Value: pattern}
		name := of
		name.Part = partName
		return AnyOf(of, name)
	}
	inHeaders := func(names ...string) Condition {
		return Condition{Type: Header, Fields: names, Match: Regex, Value: pattern}
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
		return text(Subject), nil
	case gmailquery.Body:
		return text(Body), nil
	case gmailquery.Filename:
		return text(AttachmentName), nil
	case gmailquery.List:
		return inHeaders("List-Id", "List-Post"), nil
	case gmailquery.Delivered:
		return inHeaders("Delivered-To", "X-Delivered-To"), nil
	case gmailquery.Anywhere:
		return joined(Or, []Condition{text(Subject), text(Body), inField("from", "recipients"), text(AttachmentName)}), nil
	}
	return Condition{}, fmt.Errorf("a search in %s has no condition", n.Field)
}

// actions returns the actions of the filter, and those that rules lack.
func (f *GmailFilter) actions(of string, kinds *postroom.Kinds) (actions []RuleAction, lost []Untranslated) {
	lose := func(what string) { lost = append(lost, Untranslated{of, what, Partly}) }
	archives := slices.Contains(f.RemoveLabels, postroom.LabelInbox)
	for _, label := range f.AddLabels {
		switch {
		case label == postroom.LabelStarred:
			actions = append(actions, RuleAction{Type: postroom.Star})
		case label == postroom.LabelTrash:
			actions = append(actions, RuleAction{Type: postroom.Trash})
		case label == postroom.LabelSpam:
			lose("rules do not send mail to the spam")
		case archives && !systemLabel(label):
			actions = append(actions, labelAction(postroom.Move, label))
			archives = false
		default:
			actions = append(actions, labelAction(postroom.ApplyLabel, label))
		}
	}
	for _, label := range f.RemoveLabels {
		switch label {
		case postroom.LabelInbox:
			if archives {
				actions = append(actions, RuleAction{Type: postroom.Archive})
			}
		case postroom.LabelUnread:
			actions = append(actions, RuleAction{Type: postroom.MarkRead})
		case postroom.LabelSpam:
			lose("rules decide after Gmail's spam filter, and cannot keep mail out of the spam")
		default:
			actions = append(actions, labelAction(postroom.RemoveLabel, label))
		}
	}
	if f.Forward != "" {
		actions = append(actions, RuleAction{postroom.Forward, postroom.Parameters{"to": f.Forward}})
	}
	actions = slices.DeleteFunc(actions, func(a RuleAction) bool {
		err := translatable(a, kinds)
		if err != nil {
			lose(err.Error())
		}
		return err != nil
	})
	return withParameters(actions), lost
}
