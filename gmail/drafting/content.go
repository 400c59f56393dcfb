package drafting

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/postroom-go/postroom/mime"
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

// readEdit finds the instruction in a draft that a person has touched: just above our text, or above the marker.
func readEdit(m *mime.Message, ours, marker string) edit {
	written := strings.TrimSpace(reply.Read(m).Written())
	has, own := strings.Fields(written), strings.Fields(ours)
	if above := len(has) - len(own); above > 0 && len(own) > 0 && equal(has[above:], own) {
		lines := strings.Split(firstFields(written, above), "\n")
		if last := len(lines) - 1; strings.TrimSpace(lines[last]) == marker {
			lines = lines[:last]
		}
		return newEdit(strings.Join(lines, "\n"), ours, ours)
	}
	lines := strings.Split(written, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == marker {
			return newEdit(strings.Join(lines[:i], "\n"), strings.Join(lines[i+1:], "\n"), ours)
		}
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
