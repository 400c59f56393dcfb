package discord

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes characters that control or hide text: control and format characters, including bidirectional ones,
// and the separators of lines and paragraphs. Tabs and line ends become spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co):
			return -1
		case r == '`':
			return 'ˋ' // a backquote would end the code
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// cut shortens s to at most n units of UTF-16, in which Discord counts.
func cut(s string, n int) string {
	left, end := n, 0 // end is the cut that leaves room for the dots
	for i, r := range s {
		units := 1
		if r > 0xFFFF {
			units = 2
		}
		if left-units < 0 {
			return s[:end] + "…"
		}
		left -= units
		if left >= 1 {
			end = i + utf8.RuneLen(r)
		}
	}
	return s
}

// code formats one line of untrusted text with at most n characters. It returns an empty string if there is nothing
// to show.
func code(s string, n int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if s == "" {
		return ""
	}
	return "`" + cut(s, n-2) + "`"
}

// block formats several lines of untrusted text with at most n characters.
func block(s string, n int) string {
	const open, end = "```\n", "\n```"
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(clean(line), " ")
	}
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return open + cut(text, n-len(open)-len(end)) + end
}
