package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/rules/internal/prefilter"
)

// A textTest compares the texts of sources with values.
type textTest struct {
	sources   []textSource
	how       Match
	values    []string
	sensitive bool
	index     int // of the texts of each source: 0 for all, 1 for the first, -1 for the last
}

// textTestOf reads how a predicate compares; otherwise is the default.
func textTestOf(c *Condition, otherwise Match, sources ...textSource) (textTest, *ConditionError) {
	t := textTest{sources: sources, how: c.Match, values: c.Alternatives(), sensitive: c.CaseSensitive, index: c.Index}
	if t.how == "" {
		t.how = otherwise
	}
	switch t.how {
	case Is, Contains, Wildcard, Regex:
		return t, nil
	}
	return t, badValue("match", strconv.Quote(string(t.how)),
		suggest.Instead(string(t.how), matchNames(), "the matches are"))
}

// textPredicate compiles the test.
func (k *code) textPredicate(c *Condition, t textTest) (predicate, *ConditionError) {
	if t.how != Regex {
		t.values = t.sources[0].inASCII(t.values)
	}
	folded := t.how != Regex && !t.sensitive
	m := newMatcher(t.how, t.comparedValues(folded), folded)
	if t.how == Regex {
		if e := c.eachValue(func(path, value string) *ConditionError {
			re, e := compileRegex(path, value)
			m.patterns = append(m.patterns, re)
			return e
		}); e != nil {
			return predicate{}, e
		}
	}
	var l predicate
	ids := make([]int32, len(t.sources))
	for i, src := range t.sources {
		ids[i] = k.source(src)
		l.sender = l.sender || src.isSender()
		l.body = l.body || src.from == fromBody || src.from == fromBodyLine
	}
	l.key = k.textKey(ids, t.how, t.values)
	l.test = func(v *view) bool { return v.anyText(ids, m, t.index) }
	l.explain = func(v *view) string { return v.found(ids, t.index) }
	return l, nil
}

// inASCII are the values with international domains as the source has them. Without an @ a part of an address may be
// one or not.
func (s *textSource) inASCII(values []string) []string {
	if s.from != fromAddresses || s.part != PartAddress && s.part != PartDomain && s.part != PartSite {
		return values
	}
	var list []string
	for _, value := range values {
		ascii := mailname.ASCIIAddress(value)
		if s.part != PartAddress || !strings.Contains(value, "@") {
			ascii = mailname.ASCII(value)
		}
		if list = append(list, ascii); ascii != value && s.part == PartAddress && !strings.Contains(value, "@") {
			list = append(list, value)
		}
	}
	return list
}

func (t *textTest) comparedValues(folded bool) []string {
	if !folded {
		return t.values
	}
	values := make([]string, len(t.values))
	for i, value := range t.values {
		values[i] = t.sources[0].fold(value)
	}
	return values
}

// anyText reports whether a text of one of the sources matches.
func (v *view) anyText(ids []int32, m *matcher, index int) bool {
	for _, id := range ids {
		var texts []string
		if m.folded {
			texts = v.FoldedTexts(id)
		} else {
			texts = v.Texts(id)
		}
		if slices.ContainsFunc(indexed(texts, index), m.in) {
			return true
		}
	}
	return false
}

// indexed returns the one text that the index names, or all of them for 0.
func indexed(texts []string, index int) []string {
	if index < 0 {
		index += len(texts) + 1
		if index <= 0 {
			return nil
		}
	}
	switch {
	case index == 0:
		return texts
	case index > len(texts):
		return nil
	}
	return texts[index-1 : index]
}

// isSender reports whether the source identifies the sender.
func (s *textSource) isSender() bool {
	switch s.from {
	case fromAddresses:
		return s.lists&bySender != 0
	case fromHeader:
		switch s.header {
		case "from", "sender", "reply-to", "return-path", "x-sender":
			return true
		}
	}
	return false
}

func compileRegex(field, pattern string) (*regexp.Regexp, *ConditionError) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		detail := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, &ConditionError{Path: field, Err: ErrBadRegex, Detail: detail,
			Hint: "the syntax is Go's (RE2); a backslash before a character takes it literally"}
	}
	return re, nil
}

func compileSubjectContains(k *code, c *Condition) (predicate, *ConditionError) {
	return k.textPredicate(c, textTest{sources: []textSource{{from: fromSubject}}, how: Contains,
		values: c.Alternatives()})
}

func compileSubjectRegex(k *code, c *Condition) (predicate, *ConditionError) {
	return k.textPredicate(c, textTest{sources: []textSource{{from: fromSubject}}, how: Regex, values: c.Alternatives()})
}

func compileSubject(k *code, c *Condition) (predicate, *ConditionError) {
	return k.compileText(c, Is, textSource{from: fromSubject})
}

func compileBodyContains(k *code, c *Condition) (predicate, *ConditionError) {
	return k.textPredicate(c, textTest{sources: []textSource{{from: fromBodyLine}}, how: Contains,
		values: phrases(c.Alternatives())})
}

func compileBodyRegex(k *code, c *Condition) (predicate, *ConditionError) {
	return k.textPredicate(c, textTest{sources: []textSource{{from: fromBody}}, how: Regex, values: c.Alternatives()})
}

// compileBody takes the body as one line, but for regular expressions.
func compileBody(k *code, c *Condition) (predicate, *ConditionError) {
	from := textSource{from: fromBodyLine}
	if c.Match == Regex {
		from.from = fromBody
	}
	t, e := textTestOf(c, Contains, from)
	if e != nil {
		return predicate{}, e
	}
	if t.how == Contains || t.how == Is {
		t.values = phrases(t.values)
	}
	return k.textPredicate(c, t)
}

func phrases(values []string) []string {
	lines := make([]string, len(values))
	for i, value := range values {
		lines[i] = phrase(value)
	}
	return lines
}

func (k *code) compileText(c *Condition, otherwise Match, sources ...textSource) (predicate, *ConditionError) {
	t, e := textTestOf(c, otherwise, sources...)
	if e != nil {
		return predicate{}, e
	}
	return k.textPredicate(c, t)
}

func compileHeaderMatch(k *code, c *Condition) (predicate, *ConditionError) {
	if e := CheckHeader("header", c.Header); e != nil {
		return predicate{}, e
	}
	if _, e := compileRegex("pattern", c.Pattern); e != nil {
		return predicate{}, e
	}
	as := &Condition{Value: c.Pattern}
	return k.textPredicate(as, textTest{sources: []textSource{headerSource(c.Header)}, how: Regex,
		values: as.Alternatives()})
}

func compileHeaderPresent(k *code, c *Condition) (predicate, *ConditionError) {
	if e := CheckHeader("header", c.Header); e != nil {
		return predicate{}, e
	}
	src := headerSource(c.Header)
	id := k.source(src)
	return predicate{
		test:   func(v *view) bool { return len(v.Texts(id)) > 0 },
		key:    prefilter.Present(id),
		sender: src.isSender(),
	}, nil
}

func headerSource(name string) textSource {
	return textSource{from: fromHeader, header: lowerASCII(name)}
}

// headerSources are the fields that a predicate names, by header or by fields.
func headerSources(c *Condition) ([]textSource, *ConditionError) {
	names := c.Fields
	if c.Header != "" {
		names = []string{c.Header}
	}
	sources := make([]textSource, len(names))
	for i, name := range names {
		path := "header"
		if c.Header == "" {
			path = fmt.Sprintf("fields[%d]", i)
		}
		if e := CheckHeader(path, name); e != nil {
			return nil, e
		}
		sources[i] = headerSource(name)
	}
	return sources, nil
}

// CheckHeader requires a field name (RFC 5322, section 3.6.8: printable ASCII without the colon).
func CheckHeader(path, name string) *ConditionError {
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || r == ':' {
			return badValue(path, fmt.Sprintf("%q is no header name", name), "write it without colon and blanks, as in List-Id")
		}
	}
	return nil
}

func compileHeader(k *code, c *Condition) (predicate, *ConditionError) {
	sources, e := headerSources(c)
	if e != nil {
		return predicate{}, e
	}
	return k.compileText(c, Is, sources...)
}

func compileListID(k *code, c *Condition) (predicate, *ConditionError) {
	return k.compileText(c, Is, textSource{from: fromListID})
}

func compileAttachmentName(k *code, c *Condition) (predicate, *ConditionError) {
	return k.compileText(c, Wildcard, textSource{from: fromAttachmentNames})
}

func compileAttachmentType(k *code, c *Condition) (predicate, *ConditionError) {
	return k.compileText(c, Wildcard, textSource{from: fromAttachmentTypes})
}

func compileLabelPresent(k *code, c *Condition) (predicate, *ConditionError) {
	return k.textPredicate(c, textTest{sources: []textSource{{from: fromLabels}}, how: Is, values: c.Alternatives()})
}

func compileSystemLabel(label string) func(*code, *Condition) (predicate, *ConditionError) {
	return func(k *code, _ *Condition) (predicate, *ConditionError) {
		return compileLabelPresent(k, &Condition{Value: label})
	}
}

// categories are the tabs of Gmail's inbox.
var categories = []string{"primary", "social", "promotions", "updates", "forums"}

func compileCategory(k *code, c *Condition) (predicate, *ConditionError) {
	as := &Condition{}
	e := c.eachValue(func(path, value string) *ConditionError {
		name := strings.ToLower(value)
		if !contains(categories, name) {
			return badValue(path, fmt.Sprintf("%q is no category", value),
				suggest.Instead(name, categories, "the categories are"))
		}
		if name == "primary" {
			name = "personal" // Gmail's id of it
		}
		as.Values = append(as.Values, "CATEGORY_"+strings.ToUpper(name))
		return nil
	})
	if e != nil {
		return predicate{}, e
	}
	return compileLabelPresent(k, as)
}
