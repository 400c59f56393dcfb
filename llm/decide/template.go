package decide

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// gmailServer is the server whose authentication results are trusted by default.
var gmailServer = mime.AuthServer{ID: "mx.google.com", Below: true}

// leastWords is the minimum number of words of a template: a text of numbers and names alone would equal too many others.
const leastWords = 5

// templateOf returns the parts that mails of one template have in common: the sender, the list, and the text without its
// variables. It returns false for mail without a template: that of a person, of a sender who is not authenticated, with
// attachments, or with text hidden from its reader.
func templateOf(msg *postroom.Message, server mime.AuthServer) (parts []string, ok bool) {
	header := headerOf(msg)
	list := header.List()
	body := htmltext.ReadBody(msg.BodyPlain, msg.BodyHTML)
	switch {
	case len(header.Automatic()) == 0:
		return nil, false
	case !header.Authentication(server).Verifies(mime.Address{Name: msg.From.Name, Email: msg.From.Email}):
		return nil, false
	case len(msg.Attachments) > 0, body.Incomplete, body.Words.Disagree(), hidesText(body.Hidden):
		return nil, false
	}
	n := newNormalizer(msg)
	subject, plain, seen := n.text(msg.Subject), n.text(msg.BodyPlain), n.text(body.Text)
	if words(subject)+max(words(plain), words(seen)) < leastWords {
		return nil, false
	}
	parts = []string{
		strings.ToLower(msg.From.Email), n.text(msg.From.Name), strings.ToLower(list.ID), n.text(strings.Join(msg.Header("reply-to"), " ")),
		strings.Join(msg.Header("x-priority"), " "), strings.ToLower(strings.Join(msg.Header("precedence"), " ")),
		subject, plain, seen,
	}
	return append(parts, linkedTo(body.Links)...), true
}

func headerOf(msg *postroom.Message) mime.Header {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// words counts those that are no number and no name.
func words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if strings.IndexFunc(word, unicode.IsLetter) >= 0 {
			n++
		}
	}
	return n
}

// The placeholders for the variables of a template. Text cannot contain them: they are control characters.
const (
	aName   = "\x01"
	aNumber = "\x02"
	aZero   = "\x03" // "0 failed" and "3 failed" are different news
)

// A normalizer removes from texts what differs between the mails of a template.
type normalizer struct {
	names map[string]bool // of the recipients, in lower case
}

// maxNamed is how many recipients have their names removed; a mail to more addresses nobody by name.
const maxNamed = 3

func newNormalizer(msg *postroom.Message) *normalizer {
	n := &normalizer{names: map[string]bool{}}
	if len(msg.To) > maxNamed {
		return n
	}
	for _, a := range msg.To {
		local, _, _ := strings.Cut(a.Email, "@")
		for _, word := range letters(a.Name + " " + local) {
			if len([]rune(word)) > 2 {
				n.names[word] = true
			}
		}
	}
	return n
}

// letters are the words of a text in lower case.
func letters(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

var (
	webAddress = regexp.MustCompile(`https?://[^\s<>"']+`)
	wordLike   = regexp.MustCompile(`[\pL\pM\pN](?:[\pL\pM\pN._:/,\-]*[\pL\pM\pN])?`)
	// numeric is a number, an amount, a date or a time, with the ending that English gives some.
	numeric = regexp.MustCompile(`^\pN[\pN._:/,\-]*(?:st|nd|rd|th|am|pm|h)?$`)
	// host is the name of one, or of a file, which is no identifier.
	host      = regexp.MustCompile(`\pL[\pL\pN\-]*\.\pL{2,}`)
	letterRun = regexp.MustCompile(`[\pL\pM]+`)
)

// text returns a text in lower case with one space between words, without numbers, identifiers, names, and the variable parts of
// web addresses.
func (n *normalizer) text(s string) string {
	s = strings.ToLower(cleantext.OneLine(s))
	var b strings.Builder
	for s != "" {
		at := webAddress.FindStringIndex(s)
		if at == nil {
			at = []int{len(s), len(s)}
		}
		b.WriteString(wordLike.ReplaceAllStringFunc(s[:at[0]], n.word))
		if at[1] > at[0] {
			b.WriteString(address(s[at[0]:at[1]]))
		}
		s = s[at[1]:]
	}
	return b.String()
}

func (n *normalizer) word(s string) string {
	if filled := filledIn(s); filled != "" {
		return filled
	}
	return letterRun.ReplaceAllStringFunc(s, func(word string) string {
		if n.names[word] {
			return aName
		}
		return word
	})
}

// filledIn returns the placeholder of a number or an identifier, and "" for any other word. A short text with a digit is a word,
// such as 2fa and 401k.
func filledIn(s string) string {
	const shortest = 6
	digits := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	switch {
	case strings.Trim(s, "0.,:-") == "":
		return aZero
	case numeric.MatchString(s):
		return aNumber
	case digits < 2 || len(s) < shortest || host.MatchString(s):
		return ""
	}
	return aNumber
}

// address omits the query and the fragment, and the parts of the path that name a person or a thing.
func address(s string) string {
	const longest = 24 // of a page name made by people
	u, err := url.Parse(s)
	if err != nil {
		return s // it is no template's
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		if segment != "" && filledIn(segment) != "" || len(segment) > longest {
			segments[i] = aNumber
		}
	}
	return u.Scheme + "://" + u.Host + strings.Join(segments, "/")
}

// linkedTo returns the addresses that the mail links to, each once and in order.
func linkedTo(links []htmltext.Link) []string {
	found := make([]string, 0, len(links))
	for _, l := range links {
		if scheme, _, ok := strings.Cut(l.URL, ":"); ok && !strings.HasPrefix(strings.ToLower(scheme), "http") {
			found = append(found, strings.ToLower(scheme)) // of mailto, only that it is
			continue
		}
		found = append(found, address(strings.ToLower(l.URL)))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
