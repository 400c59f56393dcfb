package notes

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// The bounds of what a note has of a message.
const (
	maxPeople = 50
	maxFiles  = 50
	maxText   = 20_000 // characters
)

// A page is what a note is made of. The same page gives the same bytes.
type page struct {
	message *postroom.Message
	mailbox string
	earlier string   // the path of the note about an earlier message of the thread; empty if there is none
	files   []string // the paths of the attached files that are kept
	texts   []string
}

// subject returns the subject for people.
func subject(m *postroom.Message) string {
	if s := value(m.Subject); s != "" {
		return s
	}
	return "No subject"
}

// at is the time that a note gives for a message.
func (v *Vault) at(m *postroom.Message) time.Time {
	t := m.ReceivedAt
	if t.IsZero() {
		t = m.Date
	}
	return t.In(v.cfg.Zone)
}

// render returns the content of a note.
func (v *Vault) render(p page) []byte {
	var b strings.Builder
	v.frontMatter(&b, p)
	m := p.message
	title := oneLine(m.Subject)
	if title == "" {
		title = "No subject"
	}
	fmt.Fprintf(&b, "\n# %s\n\n%s · %s", title, sender(m.From), v.at(m).Format("2 January 2006, 15:04"))
	if address := atGmail(p.mailbox, m.ProviderID); address != "" {
		fmt.Fprintf(&b, " · [Open in Gmail](%s)", address)
	}
	b.WriteString("\n")
	for _, text := range p.texts {
		fmt.Fprintf(&b, "\n%s\n", escape(text))
	}
	if v.cfg.Text {
		fmt.Fprintf(&b, "\n## The mail\n\n%s\n", quoted(htmltext.ReadBody(m.BodyPlain, m.BodyHTML).Text))
	}
	return []byte(b.String())
}

func (v *Vault) frontMatter(b *strings.Builder, p page) {
	m := p.message
	b.WriteString("---\n")
	fmt.Fprintf(b, "title: %s\n", quote(subject(m)))
	fmt.Fprintf(b, "date: %s\n", v.at(m).Format(time.RFC3339))
	if from := shown(m.From); from != "" {
		fmt.Fprintf(b, "from: %s\n", quote(from))
	}
	if name := value(m.From.Name); name != "" {
		fmt.Fprintf(b, "from_name: %s\n", quote(name))
	}
	people(b, "to", m.To)
	people(b, "cc", m.Cc)
	fmt.Fprintf(b, "mailbox: %s\n", quote(value(p.mailbox)))
	if p.earlier != "" {
		writeList(b, "thread", []string{link(strings.TrimSuffix(p.earlier, ".md"))}, 0)
	}
	var files []string
	for _, file := range p.files {
		files = append(files, link(file))
	}
	if v.cfg.Files == nil {
		for _, a := range attached(m) {
			files = append(files, value(a.Filename))
		}
	}
	writeList(b, "attachments", files[:min(len(files), maxFiles)], len(attached(m))-maxFiles)
	if id := value(m.MessageID); id != "" {
		fmt.Fprintf(b, "message_id: %s\n", quote(id))
	}
	fmt.Fprintf(b, "postroom: %s\ntags:\n  - mail\n---\n", quote(digits(p.mailbox, m, 12)))
}

// attached are the attachments that people call so.
func attached(m *postroom.Message) (files []postroom.Attachment) {
	for _, a := range m.Attachments {
		if a.Kind == "" && value(a.Filename) != "" { // Apple Mail sends files inline
			files = append(files, a)
		}
	}
	return files
}

func people(b *strings.Builder, key string, addresses []postroom.Address) {
	var list []string
	for _, a := range addresses[:min(len(addresses), maxPeople)] {
		if who := shown(a); who != "" && !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	writeList(b, key, list, len(addresses)-maxPeople)
}

// writeList writes a list of the front matter. More are left out of it.
func writeList(b *strings.Builder, key string, values []string, more int) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, v := range values {
		fmt.Fprintf(b, "  - %s\n", quote(v))
	}
	if more > 0 {
		fmt.Fprintf(b, "  - \"… and %d more\"\n", more)
	}
}

// person returns the name of the note about a person: the address, since anybody can choose any name. It is empty if
// the address is none, or no name of a note: a mail must not link to whichever note it likes, or to that of another.
func person(a postroom.Address) string {
	address := norm.NFC.String(strings.ToLower(a.Email))
	at := strings.LastIndexByte(address, '@')
	if at <= 0 || at == len(address)-1 || safefolder.CleanName(address) != address {
		return ""
	}
	return address
}

// shown returns the link to the note about a person as a value of the front matter, or else the address as text.
func shown(a postroom.Address) string {
	if target := person(a); target != "" {
		return link(target)
	}
	return value(a.Email)
}

func sender(a postroom.Address) string {
	who := oneLine(a.Email)
	if target := person(a); target != "" {
		who = link(target)
	}
	return cmp.Or(strings.TrimSpace(oneLine(a.Name)+" "+who), "Unknown sender")
}

var gmailID = regexp.MustCompile(`^[0-9a-zA-Z]{1,64}$`)

// atGmail is the address at which Gmail shows a message; empty if its id is not one of Gmail's.
func atGmail(mailbox, id string) string {
	if !gmailID.MatchString(id) {
		return ""
	}
	u := url.URL{Scheme: "https", Host: "mail.google.com", Path: "/mail/",
		RawQuery: url.Values{"authuser": {mailbox}}.Encode(), Fragment: "all/" + id}
	return u.String()
}

// quoted returns the text of a mail as a quotation.
func quoted(text string) string {
	more := false
	if characters := []rune(text); len(characters) > maxText {
		text, more = string(characters[:maxText]), true
	}
	text = escape(text)
	if text == "" {
		return "> (no text)"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	if more {
		lines = append(lines, ">", "> … (the rest is at Gmail)")
	}
	return strings.Join(lines, "\n")
}

// digits are the first digits of the hash of a message, as every database that has the message computes it.
func digits(mailbox string, m *postroom.Message, n int) string {
	return safefolder.Digits(mailbox, m, n)
}

// filesOf is the folder of the attached files of a message.
func filesOf(mailbox string, m *postroom.Message) string {
	return path.Join("Attachments", digits(mailbox, m, 12))
}
