package safefolder

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/postroom-go/postroom/mime/htmltext"
)

// MaxName bounds a name, in bytes. It leaves room for what makes it unique, the ending, and a temporary name.
const MaxName = 100

// notInNames are the characters that separate folders, that Windows forbids, that end or divide a link in Obsidian, or
// that templates and shells look for.
const notInNames = "/\\:*?\"<>|#^[]{}`~%$"

// reserved are the names of devices on Windows, with any ending.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])( *\.|$)`)

// CleanName returns the text as a name of a file or folder that every system can have and a link can name; empty if
// nothing is left. It has [MaxName] bytes at most.
func CleanName(text string) string {
	text = norm.NFC.String(Visible(text))
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(notInNames, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	text = trimName(cut(trimName(strings.Join(strings.Fields(text), " ")), MaxName))
	if reserved.MatchString(text) {
		text = "_" + text
	}
	return text
}

// trimName removes what hides a file, looks like an option of a command, or is lost at the end on Windows.
func trimName(s string) string { return strings.TrimRight(strings.TrimLeft(s, " .-"), " .") }

// cut returns the beginning of a text that has n bytes at most, without parts of characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Visible returns the text without control characters, but line feeds and tabs, and without characters that are drawn
// as nothing or change the direction of others. Joiners of letters and emoji stay.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || r == '\ufe0f':
			return r
		case r == utf8.RuneError || unicode.IsControl(r) || htmltext.IsInvisible(r) || unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), ""))
}
