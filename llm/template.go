package llm

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

// gmailServer is the server whose word on the authentication of senders is taken by default.
var gmailServer = mime.AuthServer{ID: "mx.google.com", Below: true}

// leastWords is how many words a template has: what is all numbers and names would be equal to too much.
const leastWords = 5

// templateOf returns what is equal for mails that a program has made from the same template: the sender, the list, and the text
// without what is filled in. It returns false for mail that is decided about by itself: that of a person, of a sender who is not
// authenticated, with attachments, or with something hidden from its reader.
func templateOf(msg *postroom.Message, server mime.AuthServer) (parts []string, ok bool) {
	header := headerOf(msg)
	list := header.List()
	body := mime.ReadBody(msg.BodyPlain, msg.BodyHTML)
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

// What stands for that which a template is filled in with. Text cannot contain them: they are controls.
const (
	aName   = "\x01"
	aNumber = "\x02"
	aZero   = "\x03" // "0 failed" and "3 failed" are different news
)

// A normalizer takes out of texts what differs between the mails of a template.
type normalizer struct {
	names map[string]bool // of the recipients, in lower case
}

// maxNamed is how many recipients have their names taken out; a mail to more is addressed to nobody by name.
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

// text is a text in lower case with one blank between words, without numbers, identifiers, names, and what web addresses carry.
func (n *normalizer) text(s string) string {
	s = strings.ToLower(oneLine(s))
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

// filledIn returns what stands for a number or an identifier, and "" for any other word. What has a digit and is short is a word,
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

// address leaves out the query and the fragment, and of the path what names a person or a thing.
func address(s string) string {
	const longest = 24 // of what a person would call a page
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

// linkedTo are the addresses that the mail leads to, each once and in order.
func linkedTo(links []mime.Link) []string {
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
