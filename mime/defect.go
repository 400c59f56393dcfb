package mime

import (
	"github.com/postroom-go/postroom/mime/charset"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// A DefectKind is a kind of violation of the rules that did not prevent a message from being read.
type DefectKind string

// The defects, and how parsing treats each.
const (
	// MboxLine: the message begins with a "From " line of an mbox file; it is left out.
	MboxLine DefectKind = "mbox_line"
	// LeadingBlank: the message begins with a byte order mark or blank lines; they are left out.
	LeadingBlank DefectKind = "leading_blank"
	// BareCR: lines end in CR alone; they are read as lines.
	BareCR DefectKind = "bare_cr"
	// HeaderIndented: the first field is indented; it is read as a field.
	HeaderIndented DefectKind = "header_indented"
	// HeaderNotFolded: a line within or before the header is neither a field nor indented; it continues the field before
	// it if that ends in a comma or semicolon, and is left out otherwise.
	HeaderNotFolded DefectKind = "header_not_folded"
	// HeaderNotEnded: the header ends without a blank line, at a delimiter or at a line that is not a field; the body
	// begins there.
	HeaderNotEnded DefectKind = "header_not_ended"
	// HeaderRaw8Bit: a field has bytes that are neither ASCII nor UTF-8, or has ISO-2022-JP; they are read in the
	// section's charset, or in the likeliest one.
	HeaderRaw8Bit DefectKind = "header_raw_8bit"
	// EncodedWordBroken: an encoded-word has an unknown charset, a broken encoding, or invalid characters, or is not in
	// its declared charset; it is read as far as possible, in the likeliest charset.
	EncodedWordBroken DefectKind = "encoded_word_broken"
	// ParameterBroken: a type or parameter breaks RFC 2045 or 2231 (no subtype, no semicolon, no closing quote, not
	// quoted, encoded in the wrong way); its likely meaning is read.
	ParameterBroken DefectKind = "parameter_broken"
	// AddressBroken: an address list breaks the rules; the readable addresses are kept, and names without an address are
	// left out.
	AddressBroken DefectKind = "address_broken"
	// DateBroken: a date does not parse; it stays zero.
	DateBroken DefectKind = "date_broken"
	// FieldRepeated: a field that may occur once is repeated; the first counts.
	FieldRepeated DefectKind = "field_repeated"
	// BoundaryMissing: a multipart declares no boundary, or one that does not occur; the boundary is guessed from the
	// body, or the body is read as one text.
	BoundaryMissing DefectKind = "boundary_missing"
	// BoundaryNotClosed: a multipart has no closing delimiter; it ends where the enclosing multipart continues, or at
	// the end.
	BoundaryNotClosed DefectKind = "boundary_not_closed"
	// EncodingUnknown: the transfer encoding is unknown; the content is not decoded.
	EncodingUnknown DefectKind = "encoding_unknown"
	// EncodingBroken: base64, quoted-printable or uuencoded content is broken; the part that can be decoded is kept.
	EncodingBroken DefectKind = "encoding_broken"
	// CharsetUnknown: the charset is unknown; the text is read as UTF-8, or in the likeliest charset.
	CharsetUnknown DefectKind = DefectKind(charset.Unknown)
	// CharsetBroken: the text is not in its declared charset, or has bytes above 127 and declares none; it is read as
	// UTF-8, or in the likeliest charset, which is Windows-1252 if nothing else is likely.
	CharsetBroken DefectKind = DefectKind(charset.Broken)
	// MessageEncoded: an attached message has a transfer encoding, which is not allowed; it is decoded and read.
	MessageEncoded DefectKind = "message_encoded"
	// NotOpened: an attached message is wrapped in too many transfer encodings; its content is kept unread.
	NotOpened DefectKind = "not_opened"
	// LimitExceeded: the message exceeds one of the [Limits], which the detail names; the rest is kept unread.
	LimitExceeded DefectKind = "limit_exceeded"
	// MoreDefects: there are more defects than are listed; it is the last one.
	MoreDefects DefectKind = "more_defects"
)

// A Defect is one tolerated fault of a message.
type Defect struct {
	Kind   DefectKind
	Part   string // the part's path, such as "1.2"; see [Part.Path]
	Field  string // the header field's name; empty if the defect is in the body
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

// maxDefects bounds the defects of one message: fewer show that it is broken, and how.
const maxDefects = 1000

func (r reporter) report(kind DefectKind, field, detail string) {
	switch n := len(*r.to); {
	case n > maxDefects:
		return
	case n == maxDefects:
		*r.to = append(*r.to, Defect{Kind: MoreDefects})
		return
	}
	*r.to = append(*r.to, Defect{Kind: kind, Part: r.part, Field: field, Detail: fieldvalue.Excerpt(detail)})
}
