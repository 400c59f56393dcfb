package mime

import "strings"

// A DefectKind names one way in which a message breaks the rules and was read all the same.
type DefectKind string

// The defects, and how reading treats each.
const (
	// MboxLine: a "From " line of an mbox file stands on top; it is left out.
	MboxLine DefectKind = "mbox_line"
	// LeadingBlank: a byte order mark or blank lines stand on top; they are left out.
	LeadingBlank DefectKind = "leading_blank"
	// BareCR: lines end in CR alone; they are read as lines.
	BareCR DefectKind = "bare_cr"
	// HeaderIndented: the first field is indented; it is read as a field.
	HeaderIndented DefectKind = "header_indented"
	// HeaderNotFolded: a line within the header or on top of it is no field and not indented; it continues the field before it
	// if that ends in a comma or semicolon, and is left out otherwise.
	HeaderNotFolded DefectKind = "header_not_folded"
	// HeaderNotEnded: the header ends without a blank line, at a delimiter or what is no field; the body begins there.
	HeaderNotEnded DefectKind = "header_not_ended"
	// HeaderRaw8Bit: a field has bytes that are neither ASCII nor UTF-8, or ISO-2022-JP; they are read in the section's
	// charset, or in one that they look like.
	HeaderRaw8Bit DefectKind = "header_raw_8bit"
	// EncodedWordBroken: an encoded-word has an unknown charset, a broken encoding, or characters that may not stand
	// in one, or is not in the charset it declares; it is read as far as possible, in the charset it looks like.
	EncodedWordBroken DefectKind = "encoded_word_broken"
	// ParameterBroken: a type or parameter breaks RFC 2045 or 2231 (no subtype, no semicolon, no closing quote, not
	// quoted, encoded in the wrong way); it is read as it seems to be meant.
	ParameterBroken DefectKind = "parameter_broken"
	// AddressBroken: an address list breaks the rules; what can be read is kept, except names without an
	// address.
	AddressBroken DefectKind = "address_broken"
	// DateBroken: a date does not parse; it stays zero.
	DateBroken DefectKind = "date_broken"
	// FieldRepeated: a field that may stand once stands again; the first counts.
	FieldRepeated DefectKind = "field_repeated"
	// BoundaryMissing: a multipart declares no boundary, or one that does not occur; the boundary is guessed from
	// the body, or else the body is read as one text.
	BoundaryMissing DefectKind = "boundary_missing"
	// BoundaryNotClosed: a multipart has no closing delimiter; it ends where the multipart around it goes on, or at the end.
	BoundaryNotClosed DefectKind = "boundary_not_closed"
	// EncodingUnknown: the transfer encoding is not one; the content is left as it is.
	EncodingUnknown DefectKind = "encoding_unknown"
	// EncodingBroken: base64, quoted-printable or uuencoded content is broken; what can be decoded is kept.
	EncodingBroken DefectKind = "encoding_broken"
	// CharsetUnknown: the charset is not known; the text is read as UTF-8, or else in what it looks like.
	CharsetUnknown DefectKind = "charset_unknown"
	// CharsetBroken: the text is not in the charset it declares, or has bytes above 127 and declares none; it is read as
	// UTF-8, or else in what it looks like, which is Windows-1252 when nothing else is likely.
	CharsetBroken DefectKind = "charset_broken"
	// MessageEncoded: an attached message has a transfer encoding, which it may not have; it is decoded and read.
	MessageEncoded DefectKind = "message_encoded"
	// NotOpened: an attached message is wrapped in too many transfer encodings; its content is there, unread.
	NotOpened DefectKind = "not_opened"
	// LimitExceeded: the message exceeds one of the [Limits], which the detail names; what is beyond is kept unread.
	LimitExceeded DefectKind = "limit_exceeded"
	// MoreDefects: there are more defects than are listed; it is the last.
	MoreDefects DefectKind = "more_defects"
)

// A Defect is one fault of a message that was tolerated.
type Defect struct {
	Kind   DefectKind
	Part   string // the part's path, such as "1.2"; see [Part.Path]
	Field  string // the header field's name; empty when it is about the body
	Detail string // for people; may quote the message
}

// String formats the defect for a log.
func (d Defect) String() string {
	s := string(d.Kind) + " in "
	if d.Part == "" {
		s += "the message"
	} else {
		s += "part " + d.Part
	}
	if d.Field != "" {
		s += ", field " + d.Field
	}
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	return s
}

// A reporter collects the defects of one part.
type reporter struct {
	to   *[]Defect
	part string
}

// maxDefects is how many defects one message lists: they say that it is broken, and how, long before.
const maxDefects = 1000

func (r reporter) report(kind DefectKind, field, detail string) {
	switch n := len(*r.to); {
	case n > maxDefects:
		return
	case n == maxDefects:
		*r.to = append(*r.to, Defect{Kind: MoreDefects})
		return
	}
	*r.to = append(*r.to, Defect{Kind: kind, Part: r.part, Field: field, Detail: excerpt(detail)})
}

// excerpt keeps defects small however large what they quote is.
func excerpt(s string) string {
	const limit = 80
	if len(s) > limit {
		s = s[:limit] + "…" // a string of its own, which does not keep the whole of s in memory
	}
	return singleLine(strings.TrimSpace(s))
}
