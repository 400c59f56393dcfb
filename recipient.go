package postroom

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"
)

// maxAddress is the length of the longest address in bytes (RFC 5321, section 4.5.3.1): 64, an @, 255.
const maxAddress = 320

// notRecipient reports whether nothing can be sent to what a text says: it is no address, with or without a name before it, and not
// several with commas between them. Control characters are in none: those that end a header field, and others that nobody sees. A
// name is written as it is read, and not encoded as in a header (RFC 2047).
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
// QUIRK: RFC 5322, section 3.2.4, has quotes around a name with characters such as [, : or @. People write Support [EU] <eu@example.com>.
func isNamed(text string) bool {
	name, address, ok := strings.Cut(strings.TrimSpace(text), "<")
	address, ends := strings.CutSuffix(address, ">")
	return ok && ends && !strings.ContainsAny(name, `",;\<>()`) && !strings.ContainsAny(address, " ,;<>") && isAddressList(address)
}

func isAddressList(text string) bool {
	list, err := mail.ParseAddressList(text)
	return err == nil && len(list) > 0 && !slices.ContainsFunc(list, func(a *mail.Address) bool { return !sendable(a.Address) })
}

// sendable reports whether mail can be sent to an address: not where the local part is beyond ASCII, which needs an extension of
// SMTP (RFC 6531) that Gmail does not promise.
func sendable(address string) bool {
	at := strings.LastIndexByte(address, '@')
	return at > 0 && len(address) <= maxAddress && !strings.ContainsFunc(address[:at], func(r rune) bool { return r > unicode.MaxASCII })
}
