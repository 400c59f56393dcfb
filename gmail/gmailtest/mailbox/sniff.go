package mailbox

import (
	"bytes"
	"fmt"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

var gzipMagic = []byte{0x1F, 0x8B}

const hintTakeout = "unpack it first: Google Takeout puts the .mbox file inside"

// formats are files that people mistake for mailboxes, by their first bytes.
var formats = []struct{ magic, what, hint string }{
	{"PK\x03\x04", "is a ZIP archive", hintTakeout},
	{"%PDF", "is a PDF", ""},
	{"\x89PNG", "is a PNG image", ""},
	{"\xFF\xD8\xFF", "is a JPEG image", ""},
	{"SQLite format 3\x00", "is an SQLite database", ""},
	{"!BDN", "is an Outlook data file (PST)", "export it as mbox first"},
	{"\xD0\xCF\x11\xE0", "is an Outlook or Office file", "export the mails as mbox or .eml first"},
	{"Rar!", "is a RAR archive", "unpack it first"},
	{"7z\xBC\xAF\x27\x1C", "is a 7z archive", "unpack it first"},
	{"BZh", "is compressed with bzip2", "unpack it first; gzip can be read as it is"},
	{"\x28\xB5\x2F\xFD", "is compressed with zstd", "unpack it first; gzip can be read as it is"},
	{"\xFD7zXZ", "is compressed with xz", "unpack it first; gzip can be read as it is"},
	{"\xFF\xFE", "is text in UTF-16", "save it as plain bytes"},
	{"<!DOCTYPE", "is an HTML page", ""},
	{"<html", "is an HTML page", ""},
}

// refuse describes a file that is not an mbox to the person who named it. first is the beginning of the file, line
// its first line that is not blank.
func refuse(path string, first, line []byte) error {
	for _, f := range formats {
		if bytes.HasPrefix(first, []byte(f.magic)) {
			return notMailbox(path, f.what, f.hint)
		}
	}
	if len(first) > 262 && string(first[257:262]) == "ustar" {
		return notMailbox(path, "is a tar archive", hintTakeout)
	}
	hint := ""
	if rawmail.LooksLikeField(line) {
		hint = "it may be a single message: name its folder as a folder of .eml files instead"
	}
	line = bytes.TrimRight(line, "\r\n")
	return notMailbox(path, fmt.Sprintf("begins with %q; an mbox begins with 'From '", line[:min(len(line), 40)]), hint)
}
