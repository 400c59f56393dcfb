package rules

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// GmailExport are the options of [ToGmail].
type GmailExport struct {
	// Unguarded also makes filters of rules that match only mail whose sender is authenticated, and of actions that a person has
	// to approve. At Gmail they are not checked. The loss is listed. Default false: they have no filter.
	Unguarded bool
}

// ToGmail translates rules into filters of Gmail; nil options are the zero [GmailExport]. The result lists what Gmail's filters
// cannot express: a rule with an untranslatable condition has no filter. All of Gmail's filters apply, whereas the first rule
// that matches decides unless it lets the others be tried. A filter that trashes, forwards, archives or marks as read therefore
// excludes the mail of earlier rules that spare it, as far as Gmail's search can express that. Gmail's filters trust any text in
// a message, and ask nobody.
func ToGmail(rules []Rule, options *GmailExport) (filters []GmailFilter, untranslated []Untranslated) {
	e := &gmailExport{}
	if options != nil {
		e.GmailExport = *options
	}
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b Rule) int { return compareRules(&a, &b) })
	for i := range rules {
		e.rule(&rules[i], i == len(rules)-1)
	}
	return e.filters, e.untranslated
}

// criteriaOf returns the filter without actions; near lists the inexact parts.
func criteriaOf(r *Rule) (f GmailFilter, near []string, err error) {
	switch {
	case !r.Enabled:
		return f, nil, errors.New("it is disabled")
	case r.Scope == ScopeAccount || r.AccountID != "":
		return f, nil, errors.New("filters are those of one account; this rule names one")
	case r.Schedule.From != "" || r.Schedule.Until != "" || len(r.Schedule.Times) > 0 || len(r.Schedule.Weekdays) > 0:
		return f, nil, errors.New("filters have no schedule")
	}
	condition := r.Condition
	if r.Scope == ScopeDomain || r.Scope == ScopeSender {
		kind := map[Scope]Kind{ScopeDomain: SenderDomain, ScopeSender: SenderEmail}[r.Scope]
		condition = AllOf(Condition{Type: kind, Value: r.ScopeRef}, condition)
	}
	q := &gmailQuery{near: map[string]bool{}}
	if f.Query, err = q.of(&condition); err != nil {
		return GmailFilter{}, nil, err
	}
	return f, slices.Sorted(maps.Keys(q.near)), nil
}

// A gmailQuery writes a condition in the language of Gmail's search.
type gmailQuery struct{ near map[string]bool }

func (q *gmailQuery) of(c *Condition) (string, error) {
	switch c.Op {
	case "":
		return q.leaf(c)
	case Not:
		inner, err := q.of(&c.Children[0])
		return negated(inner), err
	}
	var parts []string
	for i := range c.Children {
		part, err := q.of(&c.Children[i])
		if err != nil {
			return "", err
		}
		parts = append(parts, grouped(part))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if c.Op == Or {
		return "{" + strings.Join(parts, " ") + "}", nil
	}
	return "(" + strings.Join(parts, " ") + ")", nil
}

// grouped returns a form of the query that can follow a minus, or be combined with others.
func grouped(query string) string {
	if strings.HasPrefix(query, "(") || strings.HasPrefix(query, "{") || !strings.Contains(query, " ") || strings.HasPrefix(query, `"`) {
		return query
	}
	return "(" + query + ")"
}

// negated is the opposite of a search; two minuses in a row are none.
func negated(query string) string {
	if strings.HasPrefix(query, "-") {
		return "-(" + query + ")"
	}
	return "-" + grouped(query)
}

func (q *gmailQuery) leaf(c *Condition) (string, error) {
	const inexact = "Gmail looks for whole words in any case and without accents, where the rule is exact"
	of := func(operator string, values []string) (string, error) {
		q.near[inexact] = true
		values = slices.Compact(slices.Clone(values))
		parts := make([]string, len(values))
		for i, value := range values {
			if strings.ContainsAny(value, "\"(){}\n") {
				return "", fmt.Errorf("%s: Gmail's search cannot look for %q", c, value)
			}
			parts[i] = operator + `"` + value + `"`
		}
		if len(parts) == 1 {
			return parts[0], nil
		}
		return "{" + strings.Join(parts, " ") + "}", nil
	}
	plain := c.Match == "" || c.Match == Is
	switch c.Type {
	case SenderEmail, SenderDomain, To, Cc:
		operator := map[Kind]string{To: "to:", Cc: "cc:"}[c.Type]
		return of(cmp.Or(operator, "from:"), mapped(c.alternatives(), func(v string) string { return strings.TrimPrefix(v, "*@") }))
	case SubjectContains:
		return of("subject:", c.alternatives())
	case BodyContains:
		return of("", c.alternatives())
	case ListID:
		if plain {
			return of("list:", c.alternatives())
		}
	case Address:
		if operator := gmailField(c); operator != "" {
			return of(operator, mapped(c.alternatives(), func(v string) string { return strings.TrimPrefix(v, "*.") }))
		}
	case HasAttachment:
		return "has:attachment", nil
	case LargerThan, SmallerThan:
		size, err := parseSize(c.Value)
		return fmt.Sprintf("%s:%d", strings.TrimSuffix(string(c.Type), "_than"), size), err
	}
	return "", fmt.Errorf("%s: Gmail's search cannot say it", c)
}

// gmailField returns the operator for whole addresses or domains in one field; empty if there is none.
func gmailField(c *Condition) string {
	if len(c.Fields) != 1 || c.CaseSensitive {
		return ""
	}
	whole := (c.Part == "" || c.Part == partAddress || c.Part == partDomain) && (c.Match == "" || c.Match == Is)
	domains := c.Part == partDomain && c.Match == Wildcard && !slices.ContainsFunc(c.alternatives(), func(v string) bool {
		return strings.ContainsAny(strings.TrimPrefix(v, "*."), "*?\\")
	})
	if !whole && !domains {
		return ""
	}
	return map[string]string{"from": "from:", "recipients": "to:", "cc": "cc:", "bcc": "bcc:"}[c.Fields[0]]
}

// withActions returns a filter for each label, since a filter adds only one, and the actions that filters cannot do.
func (f GmailFilter) withActions(actions []RuleAction) (filters []GmailFilter, lost []string) {
	var labels []string
	for _, a := range actions {
		label, _ := a.Parameters.Text(postroom.ParamLabel)
		switch a.Type {
		case postroom.ApplyLabel:
			labels = append(labels, label)
		case postroom.Move:
			labels = append(labels, label)
			f.RemoveLabels = append(f.RemoveLabels, postroom.LabelInbox)
		case postroom.Archive:
			f.RemoveLabels = append(f.RemoveLabels, postroom.LabelInbox)
		case postroom.MarkRead:
			f.RemoveLabels = append(f.RemoveLabels, postroom.LabelUnread)
		case postroom.Star:
			f.AddLabels = append(f.AddLabels, postroom.LabelStarred)
		case postroom.Trash:
			f.AddLabels = append(f.AddLabels, postroom.LabelTrash)
		case postroom.RemoveLabel:
			if strings.EqualFold(label, postroom.LabelImportant) {
				f.RemoveLabels = append(f.RemoveLabels, postroom.LabelImportant)
			} else {
				lost = append(lost, fmt.Sprintf("filters do not take the label %q off", label))
			}
		case postroom.Forward:
			if to, ok := a.Parameters.Texts("to"); ok && len(to) == 1 && f.Forward == "" && len(a.Parameters) == 1 {
				f.Forward = to[0]
				continue
			}
			lost = append(lost, "filters forward to one address, as it is")
		default:
			lost = append(lost, "filters do not know the action "+a.inWords())
		}
	}
	f.RemoveLabels = compacted(f.RemoveLabels)
	for _, label := range compacted(labels) {
		one := f
		one.AddLabels = append(slices.Clone(f.AddLabels), label)
		filters = append(filters, one)
	}
	if len(labels) == 0 && (len(f.AddLabels) > 0 || len(f.RemoveLabels) > 0 || f.Forward != "") {
		filters = append(filters, f)
	}
	return filters, lost
}

func compacted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// WriteGmailFilters writes filters in the form that Gmail's settings import (mailFilters.xml). now is the time in the file.
func WriteGmailFilters(w io.Writer, filters []GmailFilter, now time.Time) error {
	type entry struct {
		Category struct {
			Term string `xml:"term,attr"`
		} `xml:"category"`
		Title      string           `xml:"title"`
		ID         string           `xml:"id"`
		Updated    string           `xml:"updated"`
		Content    string           `xml:"content"`
		Properties []filterProperty `xml:"apps:property"`
	}
	feed := struct {
		XMLName xml.Name `xml:"feed"`
		Atom    string   `xml:"xmlns,attr"`
		Apps    string   `xml:"xmlns:apps,attr"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Entries []entry  `xml:"entry"`
	}{Atom: "http://www.w3.org/2005/Atom", Apps: "http://schemas.google.com/apps/2006", Title: "Mail Filters", Updated: now.UTC().Format(time.RFC3339)}
	for i := range filters {
		e := entry{Title: "Mail Filter", ID: fmt.Sprintf("tag:mail.google.com,2008:filter:%d", i+1), Updated: feed.Updated}
		e.Category.Term = "filter"
		var err error
		if e.Properties, err = filters[i].properties(); err != nil {
			return fmt.Errorf("write Gmail's filters: filter %d: %w", i+1, err)
		}
		feed.Entries = append(feed.Entries, e)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(feed); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// properties returns the properties in the terms of the export.
func (f *GmailFilter) properties() ([]filterProperty, error) {
	var list []filterProperty
	add := func(name, value string) {
		if value != "" {
			list = append(list, filterProperty{name, value})
		}
	}
	add("from", f.From)
	add("to", f.To)
	add("subject", f.Subject)
	add("hasTheWord", f.Query)
	add("doesNotHaveTheWord", f.NegatedQuery)
	if f.HasAttachment {
		add("hasAttachment", "true")
	}
	if f.SizeComparison != "" {
		add("sizeOperator", map[string]string{"larger": "s_sl", "smaller": "s_ss"}[f.SizeComparison])
		add("size", strconv.FormatInt(f.Size, 10))
		add("sizeUnit", "s_sb")
	}
	for _, label := range f.AddLabels {
		name, value, ok := addedProperty(label)
		if !ok {
			return nil, fmt.Errorf("filters do not add the label %s", label)
		}
		add(name, value)
	}
	removed := map[string]string{
		postroom.LabelInbox: "shouldArchive", postroom.LabelUnread: "shouldMarkAsRead", postroom.LabelSpam: "shouldNeverSpam",
		postroom.LabelImportant: "shouldNeverMarkAsImportant",
	}
	for _, label := range f.RemoveLabels {
		if removed[label] == "" {
			return nil, fmt.Errorf("filters do not remove the label %s", label)
		}
		add(removed[label], "true")
	}
	add("forwardTo", f.Forward)
	return list, nil
}

func addedProperty(label string) (name, value string, ok bool) {
	switch label {
	case postroom.LabelStarred:
		return "shouldStar", "true", true
	case postroom.LabelTrash:
		return "shouldTrash", "true", true
	case postroom.LabelSpam:
		return "shouldSpam", "true", true
	case postroom.LabelImportant:
		return "shouldAlwaysMarkAsImportant", "true", true
	}
	for smart, id := range smartLabels {
		if id == label {
			return "smartLabelToApply", smart, true
		}
	}
	return "label", label, !systemLabel(label)
}
