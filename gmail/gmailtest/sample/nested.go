package sample

import (
	"bytes"
	"fmt"
)

// nestedName is the message that is generated instead of stored.
const nestedName = "broken-nested"

// nestedDepth is far more than mail needs, and more than a reader should follow.
const nestedDepth = 1000

// nested returns nested multiparts.
func nested() []byte {
	var b bytes.Buffer
	b.WriteString("From: Box Maker <box@boxmaker.example>\nTo: " + Owner + "\nSubject: A box in a box in a box\n" +
		"Date: Sat, 28 Feb 2026 03:30:00 +0000\nMessage-ID: <nested@boxmaker.example>\nMIME-Version: 1.0\n")
	for i := range nestedDepth {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=\"box-%d\"\n\n--box-%d\n", i, i)
	}
	b.WriteString("Content-Type: text/plain\n\nYou found it.\n")
	for i := nestedDepth - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "--box-%d--\n", i)
	}
	return b.Bytes()
}
