package drafting

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/reply"
)

// hashOf returns the hash of what a person sees of a draft: sender, recipients, subject, texts and files. Header fields
// and boundaries that Gmail adds do not count, nor do blanks at the ends of lines.
func hashOf(m *mime.Message) string {
	sum := sha256.New()
	for _, list := range [][]mime.Address{m.From, m.To, m.Cc, m.Bcc} {
		for _, a := range list {
			note(sum, a.Name, strings.ToLower(a.Email))
		}
		note(sum, "")
	}
	note(sum, strings.TrimSpace(m.Subject), withoutEnds(m.Text), withoutEnds(m.HTML))
	for _, part := range m.Attachments {
		note(sum, part.Filename, part.ContentType, string(part.Content))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func note(sum hash.Hash, values ...string) {
	for _, v := range values {
		fmt.Fprintf(sum, "%d:%s,", len(v), v)
	}
}

func withoutEnds(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\u00a0")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// An edit is what a person has made of a draft.
type edit struct {
	instruction string
	text        string // to work on
	changed     bool   // the text is not ours any more
}

// maxInstruction bounds an instruction, in bytes.
const maxInstruction = 4000

// readEdit finds the instruction in a draft that a person has touched: above the marker, or just above our text.
func readEdit(m *mime.Message, ours, marker string) edit {
	written := strings.TrimSpace(reply.Read(m).Written())
	lines := strings.Split(written, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == marker {
			return newEdit(strings.Join(lines[:i], "\n"), strings.Join(lines[i+1:], "\n"), ours)
		}
	}
	has, own := strings.Fields(written), strings.Fields(ours)
	if above := len(has) - len(own); above > 0 && len(own) > 0 && equal(has[above:], own) {
		return newEdit(firstFields(written, above), ours, ours)
	}
	return newEdit("", written, ours)
}

func newEdit(instruction, text, ours string) edit {
	instruction, text = strings.TrimSpace(instruction), strings.TrimSpace(text)
	if len(instruction) > maxInstruction {
		instruction = strings.ToValidUTF8(instruction[:maxInstruction], "")
	}
	if equal(strings.Fields(text), strings.Fields(ours)) {
		return edit{instruction, ours, false}
	}
	return edit{instruction, text, true}
}

func equal(a, b []string) bool { return strings.Join(a, " ") == strings.Join(b, " ") }

// firstFields returns the beginning of a text with n fields.
func firstFields(text string, n int) string {
	rest := text
	for range n {
		rest = strings.TrimLeft(rest, " \t\r\n\v\f\u0085\u00a0")
		end := strings.IndexFunc(rest, isSpace)
		if end < 0 {
			return text
		}
		rest = rest[end:]
	}
	return text[:len(text)-len(rest)]
}

func isSpace(r rune) bool { return strings.TrimSpace(string(r)) == "" }

// recipients returns whom an answer goes to, as Gmail does: Reply-To, or else From. Anyone can write a Reply-To: one at
// another domain than From needs a person who has asked for the draft.
func recipients(m *postroom.Message, asked bool) ([]mime.Address, error) {
	if len(m.ReplyTo) == 0 {
		if m.From.Email == "" {
			return nil, errors.New("the message names no sender")
		}
		return []mime.Address{{Name: m.From.Name, Email: m.From.Email}}, nil
	}
	var to []mime.Address
	for _, a := range m.ReplyTo {
		if !asked && authres.OrganizationalDomain(a.Email) != authres.OrganizationalDomain(m.From.Email) {
			return nil, fmt.Errorf("the message is from %s and asks for answers to %s, at another domain", m.From.Email, a.Email)
		}
		to = append(to, mime.Address{Name: cmp.Or(a.Name, nameOf(m, a.Email)), Email: a.Email})
	}
	return to, nil
}

func nameOf(m *postroom.Message, email string) string {
	if strings.EqualFold(m.From.Email, email) {
		return m.From.Name
	}
	return ""
}
