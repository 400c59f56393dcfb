package rules

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A predicate reports whether a message matches one condition.
type predicate func(v *view) bool

// A Program is a compiled condition, safe for concurrent use.
type Program struct{ root predicate }

// Compile checks a condition and prepares it for evaluation. The error holds every fault, each a [ConditionError].
func Compile(c Condition) (*Program, error) {
	root, faults := compileTree(c)
	if len(faults) == 0 {
		return &Program{root: root}, nil
	}
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return nil, errors.Join(errs...)
}

func compileTree(c Condition) (predicate, []*ConditionError) {
	var faults []*ConditionError
	root := compileNode(c, "", 1, &faults)
	return root, faults
}

// Match reports whether the message matches; ages are measured against now.
func (p *Program) Match(msg *postroom.Message, now time.Time) bool {
	return p.root(&view{msg: msg, now: now})
}

// compileNode compiles the part of a condition at path, adding its faults to faults.
func compileNode(c Condition, path string, depth int, faults *[]*ConditionError) predicate {
	add := func(e *ConditionError) {
		e.Path = joinPath(path, e.Path)
		*faults = append(*faults, e)
	}
	if depth > maxDepth {
		add(&ConditionError{Err: ErrTooDeep, Detail: fmt.Sprintf("at most %d levels are allowed", maxDepth)})
		return nil
	}
	if e := c.shape(); e != nil {
		add(e)
		if c.Op == "" {
			return nil
		}
	}
	if c.Op == "" {
		return compileLeaf(c, add)
	}
	children := make([]predicate, len(c.Children))
	for i, child := range c.Children {
		children[i] = compileNode(child, joinPath(path, fmt.Sprintf("children[%d]", i)), depth+1, faults)
	}
	return join(c.Op, children)
}

func joinPath(path, part string) string {
	if path == "" || part == "" {
		return path + part
	}
	return path + "." + part
}

func compileLeaf(c Condition, add func(*ConditionError)) predicate {
	if faults := c.fields(); len(faults) > 0 {
		for _, e := range faults {
			add(e)
		}
		return nil
	}
	p, e := kinds[c.Type].compile(c)
	if e != nil {
		add(e)
	}
	return p
}

func join(op Op, children []predicate) predicate {
	switch {
	case op == Or:
		return func(v *view) bool {
			for _, child := range children {
				if child(v) {
					return true
				}
			}
			return false
		}
	case op == Not && len(children) == 1:
		return func(v *view) bool { return !children[0](v) }
	default:
		return func(v *view) bool {
			for _, child := range children {
				if !child(v) {
					return false
				}
			}
			return true
		}
	}
}

func compileSenderEmail(c Condition) (predicate, *ConditionError) {
	match, e := compileAddress(c.Value)
	return func(v *view) bool { return match(v.msg.From) }, e
}

func compileTo(c Condition) (predicate, *ConditionError) {
	match, e := compileAddress(c.Value)
	return func(v *view) bool { return anyAddress(v.msg.To, match) }, e
}

func compileCc(c Condition) (predicate, *ConditionError) {
	match, e := compileAddress(c.Value)
	return func(v *view) bool { return anyAddress(v.msg.Cc, match) }, e
}

// compileAddress takes a whole address, or *@ and a domain.
func compileAddress(value string) (func(postroom.Address) bool, *ConditionError) {
	want := lowerASCII(value)
	domain, wildcard := strings.CutPrefix(want, "*@")
	switch {
	case wildcard && domain != "" && !strings.ContainsAny(domain, "*@ "):
		return func(a postroom.Address) bool { return domainOf(a.Email) == domain }, nil
	case strings.Contains(want, "*"):
		return nil, &ConditionError{Path: "value", Err: ErrBadValue, Detail: fmt.Sprintf("%q", value), Hint: "the one wildcard is the prefix *@, as in *@example.com"}
	case domainOf(want) == "" || strings.ContainsAny(want, " <>"):
		return nil, &ConditionError{Path: "value", Err: ErrBadValue, Detail: fmt.Sprintf("%q is no address", value), Hint: "write name@example.com, or *@example.com for all of a domain"}
	}
	return func(a postroom.Address) bool { return lowerASCII(a.Email) == want }, nil
}

func compileSenderDomain(c Condition) (predicate, *ConditionError) {
	if fault := checkDomain(c.Value); fault != "" {
		return nil, &ConditionError{Path: "value", Err: ErrBadValue, Detail: fmt.Sprintf("%q is no domain", c.Value), Hint: fault}
	}
	want := lowerASCII(c.Value)
	return func(v *view) bool { return v.senderDomain() == want }, nil
}

// checkDomain returns a hint when the text is not a domain, and else the empty string.
func checkDomain(s string) string {
	if strings.ContainsAny(s, "@* \t<>") || strings.HasPrefix(s, ".") || s == "" {
		return "write it alone, as in example.com; subdomains are domains of their own"
	}
	return ""
}

func compileSubjectContains(c Condition) (predicate, *ConditionError) {
	want := strings.ToLower(c.Value)
	return func(v *view) bool { return strings.Contains(v.subjectLower(), want) }, nil
}

func compileSubjectRegex(c Condition) (predicate, *ConditionError) {
	re, e := compileRegex("value", c.Value)
	return func(v *view) bool { return v.msg.Subject != "" && re.MatchString(v.msg.Subject) }, e
}

func compileBodyContains(c Condition) (predicate, *ConditionError) {
	want := strings.ToLower(c.Value)
	return func(v *view) bool { return strings.Contains(v.bodyLower(), want) }, nil
}

func compileBodyRegex(c Condition) (predicate, *ConditionError) {
	re, e := compileRegex("value", c.Value)
	return func(v *view) bool { return v.body() != "" && re.MatchString(v.body()) }, e
}

func compileHeaderPresent(c Condition) (predicate, *ConditionError) {
	return func(v *view) bool { return len(v.msg.Header(c.Header)) > 0 }, checkHeader(c.Header)
}

func compileHeaderMatch(c Condition) (predicate, *ConditionError) {
	if e := checkHeader(c.Header); e != nil {
		return nil, e
	}
	re, e := compileRegex("pattern", c.Pattern)
	return func(v *view) bool { return v.anyHeader(c.Header, re) }, e
}

// checkHeader requires a field name (RFC 5322, section 3.6.8: printable ASCII without the colon).
func checkHeader(name string) *ConditionError {
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || r == ':' {
			return &ConditionError{Path: "header", Err: ErrBadValue, Detail: fmt.Sprintf("%q is no header name", name), Hint: "write it without colon and blanks, as in List-Id"}
		}
	}
	return nil
}

func compileRegex(field, pattern string) (*regexp.Regexp, *ConditionError) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		detail := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, &ConditionError{Path: field, Err: ErrBadRegex, Detail: detail, Hint: "the syntax is Go's (RE2); a backslash before a character takes it literally"}
	}
	return re, nil
}

func compileLabelPresent(c Condition) (predicate, *ConditionError) {
	return func(v *view) bool { return v.msg.HasLabel(c.Value) }, nil
}

func compileHasAttachment(Condition) (predicate, *ConditionError) { return (*view).hasAttachment, nil }

func compileLargerThan(c Condition) (predicate, *ConditionError) {
	limit, e := compileSize(c.Value)
	return func(v *view) bool { return v.msg.Size > limit }, e
}

// A size of zero is an unknown one.
func compileSmallerThan(c Condition) (predicate, *ConditionError) {
	limit, e := compileSize(c.Value)
	return func(v *view) bool { return v.msg.Size > 0 && v.msg.Size < limit }, e
}

func compileSize(value string) (int64, *ConditionError) {
	size, err := parseSize(value)
	if err != nil {
		return 0, &ConditionError{Path: "value", Err: ErrBadValue, Detail: err.Error(), Hint: sizeHint}
	}
	return size, nil
}

func compileOlderThan(c Condition) (predicate, *ConditionError) {
	limit, e := compileAge(c.Value)
	return func(v *view) bool { age, known := v.age(); return known && age > limit }, e
}

func compileNewerThan(c Condition) (predicate, *ConditionError) {
	limit, e := compileAge(c.Value)
	return func(v *view) bool { age, known := v.age(); return known && age < limit }, e
}

func compileAge(value string) (time.Duration, *ConditionError) {
	age, err := parseAge(value)
	if err != nil {
		return 0, &ConditionError{Path: "value", Err: ErrBadValue, Detail: err.Error(), Hint: ageHint}
	}
	return age, nil
}
