package sieve

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// requires reports whether the script requires the extension.
func requires(commands []command, extension string) bool {
	return slices.ContainsFunc(commands, func(c command) bool {
		return c.name == "require" && len(c.args) == 1 && slices.Contains(c.args[0], extension)
	})
}

// encodedCharacters are ${hex:40} and ${unicode:40}, with any number of characters in each (RFC 5228, section 2.4.2.4).
var encodedCharacters = regexp.MustCompile(`(?i)\$\{(hex|unicode):((?:\s*[0-9a-f]+)(?:\s+[0-9a-f]+)*\s*)\}`)

// decodeCharacters replaces encoded characters in all strings of the commands.
func decodeCharacters(commands []command) {
	for i := range commands {
		for _, list := range commands[i].args {
			for j := range list {
				list[j] = encodedCharacters.ReplaceAllStringFunc(list[j], decodeCharacter)
			}
		}
		decodeCharacters(commands[i].tests)
		decodeCharacters(commands[i].block)
	}
}

// decodeCharacter returns the characters; an invalid encoding is returned as it is.
func decodeCharacter(encoded string) string {
	parts := encodedCharacters.FindStringSubmatch(encoded)
	var b strings.Builder
	for digits := range strings.FieldsSeq(parts[2]) {
		if strings.EqualFold(parts[1], "hex") {
			n, err := strconv.ParseUint(digits, 16, 8)
			if err != nil || len(digits) > 2 {
				return encoded
			}
			b.WriteByte(byte(n))
			continue
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return encoded
		}
		b.WriteRune(rune(n))
	}
	if text := b.String(); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return encoded
}
