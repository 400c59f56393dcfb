package mime

import (
	"slices"
	"strings"
)

// An AttachmentKind classifies an attached part for the person who reads the message.
type AttachmentKind string

// The kinds of attachments. People call only KindFile and KindUnread parts attachments, and
// calendars with a name; see [Message.HasAttachment].
const (
	// KindFile is a file, an attached message, or a part of none of the other kinds.
	KindFile AttachmentKind = "file"
	// KindPicture is an image with a Content-ID that is not marked as an attachment: the HTML shows it.
	KindPicture AttachmentKind = "picture"
	// KindSignature is a detached signature: S/MIME (RFC 8551) or OpenPGP (RFC 3156).
	KindSignature AttachmentKind = "signature"
	// KindReport is a part of a multipart/report (RFC 6522) after its text: the report, and the message or header that
	// it is about.
	KindReport AttachmentKind = "report"
	// KindCalendar is an invitation or an answer to one (RFC 5546).
	KindCalendar AttachmentKind = "calendar"
	// KindUnread is a part whose own parts were not read, because of the [Limits] or a [NotOpened], or a text that was
	// declared in a transfer encoding and could not be decoded. It may include text that a reader sees. It counts as a
	// file.
	KindUnread AttachmentKind = "unread"
)

var kindsOfTypes = map[string]AttachmentKind{
	"application/pkcs7-signature":             KindSignature,
	"application/x-pkcs7-signature":           KindSignature,
	"application/pgp-signature":               KindSignature,
	"message/delivery-status":                 KindReport,
	"message/global-delivery-status":          KindReport,
	"message/disposition-notification":        KindReport,
	"message/global-disposition-notification": KindReport,
	"message/feedback-report":                 KindReport,
	"text/rfc822-headers":                     KindReport,
	"message/global-headers":                  KindReport,
	"text/calendar":                           KindCalendar,
	"text/x-vcalendar":                        KindCalendar,
	"text/ics":                                KindCalendar,
	"application/ics":                         KindCalendar,
}

// kindsOfNames are the kinds of files by the lower-case ends of their names, for types that say nothing.
var kindsOfNames = map[string]AttachmentKind{".ics": KindCalendar, ".p7s": KindSignature,
	"signature.asc": KindSignature}

func kindOfName(filename string) AttachmentKind {
	filename = strings.ToLower(filename)
	for ending, kind := range kindsOfNames {
		if strings.HasSuffix(filename, ending) {
			return kind
		}
	}
	return KindFile
}

// Kind returns the kind of the part as an attachment. It depends on the part's type, or on its name if any file may
// have the type.
func (p *Part) Kind() AttachmentKind {
	kind, found := kindsOfTypes[p.ContentType]
	switch {
	case found:
		return kind
	case p.reported:
		return KindReport
	case p.opaque, p.undecoded:
		return KindUnread
	case strings.HasPrefix(p.ContentType, "image/") && p.ContentID != "" && p.Disposition != "attachment":
		return KindPicture
	case p.ContentType == "application/octet-stream" || p.ContentType == "text/plain":
		return kindOfName(p.Filename)
	default:
		return KindFile
	}
}

// HasAttachment reports whether a file is attached. Pictures of the HTML, signatures, reports and calendars without a
// name do not count, unless their kinds are given: m.HasAttachment(mime.KindCalendar).
func (m *Message) HasAttachment(also ...AttachmentKind) bool {
	return slices.ContainsFunc(m.Attachments, func(p *Part) bool {
		kind := p.Kind()
		return kind == KindFile || kind == KindUnread || kind == KindCalendar && p.Filename != "" ||
			slices.Contains(also, kind)
	})
}
