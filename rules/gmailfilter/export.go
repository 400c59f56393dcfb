package gmailfilter

import (
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
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// ExportOptions are the options of [Export].
type ExportOptions struct {
	// Unguarded also makes filters of rules that match only mail whose sender is authenticated, and of actions that a
	// person has to approve. At Gmail they are not checked. The loss is listed. Default false: they have no filter.
	Unguarded bool
}

// Export translates rules into filters of Gmail; nil options are the zero [ExportOptions]. The result lists what
// Gmail's filters cannot express: a rule with an untranslatable condition has no filter. All of Gmail's filters
// apply, whereas the first rule that matches decides unless it lets the others be tried. A filter that trashes,
// forwards, archives or marks as read therefore excludes the mail of earlier rules that spare it, as far as Gmail's
// search can express that. Gmail's filters trust any text in a message, and ask nobody.
func Export(list []rules.Rule, options *ExportOptions) (filters []Filter, untranslated []rulesfile.Untranslated) {
	e := &exporter{}
	if options != nil {
		e.ExportOptions = *options
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b rules.Rule) int { return rules.Order(&a, &b) })
	for i := range list {
		e.rule(&list[i], i == len(list)-1)
	}
	return e.filters, e.untranslated
}

// searchesOf returns the searches for the mail of a rule, none longer than longest; near lists the inexact parts.
func searchesOf(r *rules.Rule, longest int) (searches, near []string, err error) {
	switch {
	case !r.Enabled:
		return nil, nil, errors.New("it is disabled")
	case r.Scope == rules.ScopeAccount || r.AccountID != "":
		return nil, nil, errors.New("filters are those of one account; this rule names one")
	case r.Schedule.From != "" || r.Schedule.Until != "" || len(r.Schedule.Times) > 0 || len(r.Schedule.Weekdays) > 0 ||
		r.Schedule.LabelOnlyUntil != "":
		return nil, nil, errors.New("filters have no schedule")
	}
	condition := r.Condition
	if r.Scope == rules.ScopeDomain || r.Scope == rules.ScopeSender {
		kind := map[rules.Scope]rules.Kind{rules.ScopeDomain: rules.SenderDomain,
			rules.ScopeSender: rules.SenderEmail}[r.Scope]
		condition = rules.AllOf(rules.Condition{Type: kind, Value: r.ScopeRef}, condition)
	}
	q := &query{near: map[string]bool{}, longest: longest}
	if searches, err = q.split(&condition); err != nil {
		return nil, nil, err
	}
	return searches, slices.Sorted(maps.Keys(q.near)), nil
}

// withActions returns a filter for each label, since a filter adds only one, and the actions that filters cannot do.
func (f Filter) withActions(actions []rules.RuleAction) (filters []Filter, lost []string) {
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
			lost = append(lost, "filters do not know the action "+a.InWords())
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

// Write writes filters in the form that Gmail's settings import (mailFilters.xml). now is the time in the file.
func Write(w io.Writer, filters []Filter, now time.Time) error {
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
	}{Atom: "http://www.w3.org/2005/Atom", Apps: "http://schemas.google.com/apps/2006", Title: "Mail Filters",
		Updated: now.UTC().Format(time.RFC3339)}
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
func (f *Filter) properties() ([]filterProperty, error) {
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
	return "label", label, !rules.IsSystemLabel(label)
}
