package gmailtest

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A filter chooses messages: conditions on the table m, and their arguments.
type filter struct {
	conditions []string
	args       []any
}

// add takes in a condition; each %s of it is one argument.
func (f *filter) add(condition string, args ...any) {
	places := make([]any, len(args))
	for i, a := range args {
		places[i] = f.arg(a)
	}
	f.conditions = append(f.conditions, fmt.Sprintf(condition, places...))
}

// arg takes in an argument and gives its place.
func (f *filter) arg(value any) string {
	f.args = append(f.args, value)
	return "$" + strconv.Itoa(len(f.args))
}

func (f *filter) where() string {
	return strings.Join(append([]string{"TRUE"}, f.conditions...), "\n  AND ")
}

const hasLabel = "EXISTS (SELECT 1 FROM message_labels WHERE message_id = m.id AND label_id = %s)"

// parseFilter reads labelIds, q and includeSpamTrash.
func (s *Server) parseFilter(ctx context.Context, query url.Values) (filter, error) {
	var f filter
	labels := query["labelIds"]
	if err := checkLabels(ctx, s.db.Reader(), labels); err != nil {
		return f, err
	}
	hidden := query.Get("includeSpamTrash") != "true"
	for _, id := range labels {
		f.add(hasLabel, id)
		hidden = hidden && id != labelSpam && id != labelTrash
	}
	for _, term := range terms(query.Get("q")) {
		shows, err := s.addTerm(ctx, &f, term)
		if err != nil {
			return f, err
		}
		hidden = hidden && !shows
	}
	if hidden {
		f.add("NOT "+hasLabel, labelSpam)
		f.add("NOT "+hasLabel, labelTrash)
	}
	return f, nil
}

var termPattern = regexp.MustCompile(`[^\s"]*"[^"]*"|\S+`)

// terms cuts a query at its blanks, but not within quotes.
func terms(q string) []string {
	found := termPattern.FindAllString(q, -1)
	for i := range found {
		found[i] = strings.ReplaceAll(found[i], `"`, "")
	}
	return found
}

// addTerm takes in one operator. It reports whether the query includes spam and trash.
func (s *Server) addTerm(ctx context.Context, f *filter, text string) (shows bool, err error) {
	positive, negated := strings.CutPrefix(text, "-")
	operator, value, _ := strings.Cut(positive, ":")
	if value == "" {
		return false, invalidArgument("gmailtest does not know how to search for %q", text)
	}
	one := filter{args: f.args}
	switch operator = strings.ToLower(operator); operator {
	case "rfc822msgid":
		one.add("m.rfc822_id = %s", strings.Trim(value, "<>"))
	case "after", "newer", "before", "older":
		err = one.addDate(operator, value)
	case "newer_than", "older_than":
		err = one.addAge(operator, value, s.now())
	case "in", "label", "is", "category":
		shows, err = s.addPlace(ctx, &one, operator, strings.ToLower(value))
	default:
		err = invalidArgument("gmailtest does not know how to search for %q", text)
	}
	if err != nil {
		return false, err
	}
	f.args = one.args
	for _, condition := range one.conditions {
		if negated {
			condition = "NOT " + condition
		}
		f.conditions = append(f.conditions, condition)
	}
	return shows && !negated, nil
}

// pacific is the time zone of Gmail's days, without daylight saving.
var pacific = time.FixedZone("PST", -8*60*60)

func (f *filter) addDate(operator, value string) error {
	var at time.Time
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		at = time.Unix(seconds, 0)
	} else if at, err = time.ParseInLocation("2006/1/2", strings.ReplaceAll(value, "-", "/"), pacific); err != nil {
		return invalidArgument("gmailtest does not know the date in %q", operator+":"+value)
	}
	if operator == "after" || operator == "newer" {
		f.add("m.internal_date >= %s", at.UnixMilli())
	} else {
		f.add("m.internal_date < %s", at.UnixMilli())
	}
	return nil
}

func (f *filter) addAge(operator, value string, now time.Time) error {
	count, err := strconv.Atoi(strings.TrimRight(value, "hdmy"))
	if err != nil || count < 0 {
		return invalidArgument("gmailtest does not know the age in %q", operator+":"+value)
	}
	var since time.Time
	switch strings.TrimLeft(value, "0123456789") {
	case "h":
		since = now.Add(-time.Duration(count) * time.Hour)
	case "d":
		since = now.AddDate(0, 0, -count)
	case "m":
		since = now.AddDate(0, -count, 0)
	case "y":
		since = now.AddDate(-count, 0, 0)
	default:
		return invalidArgument("gmailtest does not know the age in %q", operator+":"+value)
	}
	if operator == "newer_than" {
		f.add("m.internal_date >= %s", since.UnixMilli())
	} else {
		f.add("m.internal_date < %s", since.UnixMilli())
	}
	return nil
}

// addPlace reads in:, label:, is: and category:, which all come down to a label.
func (s *Server) addPlace(ctx context.Context, f *filter, operator, value string) (shows bool, err error) {
	switch {
	case operator == "in" && value == "anywhere":
		return true, nil
	case operator == "is" && value == "read":
		f.add("NOT "+hasLabel, labelUnread)
		return false, nil
	case operator == "category":
		value = "category_" + value
	case value == "drafts":
		value = labelDraft
	}
	if id := strings.ToUpper(value); slices.Contains(systemLabels, id) {
		f.add(hasLabel, id)
		return id == labelSpam || id == labelTrash, nil
	}
	if operator != "in" && operator != "label" {
		return false, invalidArgument("gmailtest does not know how to search for %q", operator+":"+value)
	}
	var ids []string
	if err := dbquery.Select(ctx, s.db.Reader(), &ids, selectLabelSearched, value); err != nil {
		return false, err
	}
	// A label that does not exist finds nothing.
	f.add("EXISTS (SELECT 1 FROM message_labels WHERE message_id = m.id AND label_id IN (SELECT value FROM json_each(%s)))", textList(ids))
	return false, nil
}
