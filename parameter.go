package postroom

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Texts returns the parameter as a list; a string that is not blank is a list of one. It returns false if the
// parameter is anything else, or an empty list.
func (p Parameters) Texts(name string) ([]string, bool) {
	switch v := p[name].(type) {
	case string:
		return []string{v}, strings.TrimSpace(v) != ""
	case []string:
		return slices.Clone(v), len(v) > 0 && !slices.ContainsFunc(v, blank)
	case []any:
		texts := make([]string, len(v))
		for i, value := range v {
			text, ok := value.(string)
			if !ok || blank(text) {
				return nil, false
			}
			texts[i] = text
		}
		return texts, len(texts) > 0
	default:
		return nil, false
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Integer returns the parameter and true if it is a whole number of any Go number type.
func (p Parameters) Integer(name string) (int64, bool) {
	switch v := p[name].(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case float64:
		const exact = 1 << 53
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= exact
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return n, err == nil
	default:
		return 0, false
	}
}

// Time returns the parameter and true if it is an instant in RFC 3339 form.
func (p Parameters) Time(name string) (time.Time, bool) {
	text, _ := p.Text(name)
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// check describes the fault of a value in words that follow "action archive".
func (p *Parameter) check(value any) error {
	if value == nil || value == "" {
		if p.Required {
			return fmt.Errorf("needs the parameter %q: %s", p.Name, p.kind())
		}
		return nil
	}
	if !p.fits(value) {
		return fmt.Errorf("needs as the parameter %q %s, not %s", p.Name, p.kind(), show(value))
	}
	if p.Recipient {
		texts, _ := Parameters{p.Name: value}.Texts(p.Name)
		if i := slices.IndexFunc(texts, notRecipient); i >= 0 {
			return fmt.Errorf("needs as the parameter %q %s, not %s", p.Name, p.kind(), show(texts[i]))
		}
	}
	if p.Type == LabelParameter {
		switch label := strings.ToUpper(strings.TrimSpace(value.(string))); label { //nolint:forcetypeassert // it fits
		case LabelSent, LabelDraft:
			return fmt.Errorf("cannot have the label %s: Gmail lets nobody change it", label)
		}
		if fault := unreadable(value.(string)); fault != nil { //nolint:forcetypeassert // it fits
			return fmt.Errorf("cannot have the label %s: %w", quoteShort(value.(string)), fault) //nolint:forcetypeassert // it fits
		}
	}
	return nil
}

func (p *Parameter) fits(value any) bool {
	given := Parameters{p.Name: value}
	switch p.Type {
	case TextParameter, LabelParameter:
		text, ok := value.(string)
		return ok && !blank(text) && (len(p.Values) == 0 || slices.Contains(p.Values, text))
	case TextsParameter:
		_, ok := given.Texts(p.Name)
		return ok
	case IntegerParameter:
		n, ok := given.Integer(p.Name)
		return ok && (p.Min == 0 && p.Max == 0 || p.Min <= n && n <= p.Max)
	case BooleanParameter:
		_, ok := value.(bool)
		return ok
	case TimeParameter:
		_, ok := given.Time(p.Name)
		return ok
	default:
		return false
	}
}

// kind describes the type of the value in words.
func (p *Parameter) kind() string {
	switch {
	case len(p.Values) > 0:
		return "one of " + strings.Join(p.Values, ", ")
	case p.Type == IntegerParameter && (p.Min != 0 || p.Max != 0):
		return fmt.Sprintf("a whole number within %d and %d", p.Min, p.Max)
	case p.Recipient && p.Type == TextsParameter:
		return anAddress + ", or a list of addresses"
	case p.Recipient:
		return anAddress
	}
	return parameterTypes[p.Type]
}

const anAddress = "an address such as name@example.com"

var parameterTypes = map[ParameterType]string{
	TextParameter:    "a text",
	TextsParameter:   "a text or a list of texts",
	IntegerParameter: "a whole number",
	BooleanParameter: "true or false",
	TimeParameter:    "a time such as 2027-01-31T08:00:00Z",
	LabelParameter:   "the name of a label",
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("a %T", value)
	}
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

func (p *Parameter) validate() error {
	switch {
	case !kindName.MatchString(p.Name):
		return fmt.Errorf(
			"has the Name %q; write lower-case letters, digits and underscores, beginning with a letter, at most 50", p.Name)
	case parameterTypes[p.Type] == "":
		return fmt.Errorf("%q has the Type %q; use one of the constants, such as TextParameter", p.Name, p.Type)
	case len(p.Values) > 0 && p.Type != TextParameter:
		return fmt.Errorf("%q has Values, which only a TextParameter may have", p.Name)
	case (p.Min != 0 || p.Max != 0) && p.Type != IntegerParameter:
		return fmt.Errorf("%q has Min or Max, which only an IntegerParameter may have", p.Name)
	case p.Recipient && p.Type != TextParameter && p.Type != TextsParameter:
		return fmt.Errorf("%q is a Recipient, which only a TextParameter or a TextsParameter may be", p.Name)
	case p.Recipient && slices.ContainsFunc(p.Values, notRecipient):
		return fmt.Errorf("%q is a Recipient and has %q among its Values, which is no address", p.Name,
			p.Values[slices.IndexFunc(p.Values, notRecipient)])
	case p.Min > p.Max:
		return fmt.Errorf("%q has the Min %d above its Max %d", p.Name, p.Min, p.Max)
	case slices.ContainsFunc(p.Values, blank):
		return fmt.Errorf("%q has a blank text among its Values", p.Name)
	}
	if detail := checkSummary(p.Summary); detail != "" {
		return errors.New(strconv.Quote(p.Name) + ": Summary " + detail)
	}
	return nil
}

// maxAddress is the length of the longest address in bytes (RFC 5321, section 4.5.3.1): 64, an @, 255.
const maxAddress = 320

// notRecipient reports whether nothing can be sent to what a text says: it is no address, with or without a name
// before it, and not several with commas between them. Control characters are in none: those that end a header field,
// and others that nobody sees. A name is written as it is read, and not encoded as in a header (RFC 2047).
func notRecipient(text string) bool {
	if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "=?") {
		return true
	}
	if isAddressList(text) {
		return false
	}
	// QUIRK: RFC 5322, section 3.4, has commas between addresses, and Outlook's users write semicolons.
	several := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ";"), ";")
	return slices.ContainsFunc(several, func(one string) bool { return !isAddressList(one) && !isNamed(one) })
}

// isNamed reports whether a text is an address in angle brackets after a name.
//
// QUIRK: RFC 5322, section 3.2.4, has quotes around a name with characters such as [, : or @. People write Support
// [EU] <eu@example.com>.
func isNamed(text string) bool {
	name, address, ok := strings.Cut(strings.TrimSpace(text), "<")
	address, ends := strings.CutSuffix(address, ">")
	return ok && ends && !strings.ContainsAny(name, `",;\<>()`) && !strings.ContainsAny(address, " ,;<>") &&
		isAddressList(address)
}

func isAddressList(text string) bool {
	list, err := mail.ParseAddressList(text)
	return err == nil && len(list) > 0 && !slices.ContainsFunc(list, func(a *mail.Address) bool {
		return !sendable(a.Address)
	})
}

// sendable reports whether mail can be sent to an address: not where the local part is beyond ASCII, which needs an
// extension of SMTP (RFC 6531) that Gmail does not promise.
func sendable(address string) bool {
	at := strings.LastIndexByte(address, '@')
	return at > 0 && len(address) <= maxAddress && !strings.ContainsFunc(address[:at], func(r rune) bool {
		return r > unicode.MaxASCII
	})
}
