package mailbox

import (
	"bytes"
	"net/mail"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

var fromPrefix = []byte("From ")

// isSeparator reports whether a line that begins with "From " starts a new message. next is the text after the line.
//
// QUIRK: writers of mbox files differ in their quoting, and some omit the blank line before a message. A true
// separator has three signs: a blank line before it, a date in it, a header field after it. Two of them are enough,
// so that "From here on ..." in a letter does not split it, and one sloppy writer does not join two messages.
func isSeparator(line, next []byte, afterBlank bool) bool {
	signs := 0
	if afterBlank {
		signs++
	}
	if !fromLineDate(line).IsZero() {
		signs++
	}
	if rawmail.LooksLikeField(next) {
		signs++
	}
	return signs >= 2
}

var fromLineLayouts = []string{
	"Mon Jan 2 15:04:05 2006",
	"Mon Jan 2 15:04:05 -0700 2006",
	"Mon Jan 2 15:04:05 2006 -0700",
	"Mon Jan 2 15:04:05 MST 2006",
	"Mon Jan 2 15:04:05 2006 MST",
	"Mon Jan 2 15:04 2006",
	"Mon Jan 2 15:04 MST 2006",
}

// maxFromLine bounds the part of a line that is searched for a date.
const maxFromLine = 1024

// fromLineDate finds the date in a separator: "From address weekday month day time [zone] year", or the date of RFC
// 5322 in the same place. It returns zero if there is none.
func fromLineDate(line []byte) time.Time {
	words := strings.Fields(string(line[:min(len(line), maxFromLine)]))
	for i := range words {
		if i == 0 || !isWeekday(words[i]) {
			continue
		}
		date := strings.Join(words[i:], " ")
		for _, layout := range fromLineLayouts {
			if t, err := time.Parse(layout, date); err == nil {
				return t.UTC()
			}
		}
		return parseDate(date)
	}
	return time.Time{}
}

func isWeekday(word string) bool {
	switch strings.TrimSuffix(word, ",") {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	default:
		return false
	}
}

// parseDate parses a Date field (RFC 5322, section 3.3). It returns zero if the field is invalid.
func parseDate(value string) time.Time {
	t, err := mail.ParseDate(value)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// unquoted removes the ">" with which a writer quotes a line of the body that looks like a separator.
func unquoted(line []byte) []byte {
	if bytes.HasPrefix(bytes.TrimLeft(line, ">"), fromPrefix) && line[0] == '>' {
		return line[1:]
	}
	return line
}
