// Package bounce reads the notices of mail servers about mail that they could not deliver, or not yet: delivery reports
// (RFC 3464) and notices in plain words. [Read] returns the recipients, with the reason, and whether the failure is
// final.
package bounce

import (
	"time"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// Read reads a notice about mail that was not delivered. It returns nil if the message is no such notice, or if the
// notice does not give the fate of the message for any recipient: automatic replies, challenges, receipts.
// [mime.Header.Automatic] identifies those.
func Read(m *mime.Message) *mime.Bounce {
	b := readReport(m)
	if b == nil {
		b = readNotice(m)
	}
	if b == nil {
		return nil
	}
	for i := range b.Recipients {
		conclude(&b.Recipients[i])
	}
	if b.Original == nil {
		b.Original = m.Returned()
	}
	if b.OriginalMessageID == "" {
		b.OriginalMessageID = firstID(b.Original.Raw("Message-ID"))
	}
	if b.OriginalMessageID == "" {
		b.OriginalMessageID = m.InReplyTo
	}
	return b
}

func firstID(value string) string {
	for _, id := range mime.ParseMessageIDs(value) {
		return id
	}
	return ""
}

func dateField(h mime.Header, name string) time.Time {
	date, _ := mime.ParseDate(h.Raw(name))
	return date
}

// hasNullSender reports whether the envelope sender was empty, as that of a notice is (RFC 3464, section 2).
func hasNullSender(m *mime.Message) bool {
	return fieldvalue.WithoutBlanks(fieldvalue.Uncomment(m.Header.Raw("Return-Path"))) == "<>"
}
