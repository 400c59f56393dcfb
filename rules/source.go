package rules

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// A textSource is a place in a message that holds texts to match: none, one or several.
type textSource struct {
	from   sourceKind
	header string    // in lower case, of fromHeader
	lists  addresses // of fromAddresses
	part   string    // of fromAddresses
	index  int       // of fromAddresses: one of several fields of a name, from 1, or from -1 for the last; 0 for all
}

// A sourceKind is the kind of a source.
type sourceKind uint8

const (
	fromSubject  sourceKind = iota
	fromBody                // the text that a person sees
	fromBodyLine            // the same as one line
	fromHeader              // the values of the header fields of a name
	fromAddresses
	fromListID
	fromLabels
	fromAttachmentNames
	fromAttachmentTypes
	fromAccount
)

// addresses is a set of the address fields of a message.
type addresses uint16

const (
	inFrom addresses = 1 << iota
	inReplyTo
	inTo
	inCc
	inBcc
	inSender
	inResentFrom
	inResentSender
	inResentTo
	inResentCc
	inResentBcc
	inEnvelopeFrom
	inEnvelopeTo
)

// inHeader are the address fields that a message has in its header only. Of the fields in which the server wrote down
// the envelope, the topmost counts: those below it may be the sender's.
var inHeader = []struct {
	bit   addresses
	name  string
	first bool
}{
	{inSender, "sender", false},
	{inResentFrom, "resent-from", false}, {inResentSender, "resent-sender", false},
	{inResentTo, "resent-to", false}, {inResentCc, "resent-cc", false}, {inResentBcc, "resent-bcc", false},
	{inEnvelopeFrom, "return-path", true}, {inEnvelopeTo, "delivered-to", true},
}

// bySender are the fields that the sender of a message writes about himself.
const bySender = inFrom | inReplyTo | inSender | inResentFrom | inResentSender | inEnvelopeFrom

// addressLists are the names of the address fields in conditions.
var addressLists = map[string]addresses{
	"from": inFrom, "reply_to": inReplyTo, "to": inTo, "cc": inCc, "bcc": inBcc, "sender": inSender,
	"resent_from": inResentFrom, "resent_sender": inResentSender, "resent_to": inResentTo, "resent_cc": inResentCc, "resent_bcc": inResentBcc,
	"envelope_from": inEnvelopeFrom, "envelope_to": inEnvelopeTo,
	"recipients": inTo | inCc | inBcc,
}

// The parts of an address.
const (
	PartAddress = "address"
	PartLocal   = "local"
	PartUser    = "user"
	PartDetail  = "detail"
	PartDomain  = "domain"
	PartSite    = "site"
	PartName    = "name"
)

var addressParts = []string{PartAddress, PartLocal, PartUser, PartDetail, PartDomain, PartSite, PartName}

// fold returns the case-insensitive form of a text of the source: by ASCII for names of mailboxes and file types, and
// by Unicode for text that people write. The case of label ids counts.
func (s *textSource) fold(text string) string {
	switch s.from {
	case fromLabels, fromAccount:
		return text
	case fromAddresses:
		switch s.part {
		case PartName:
		case PartAddress:
			return mailname.Address(text)
		case PartDomain, PartSite:
			return mailname.Domain(text)
		default:
			return lowerASCII(text)
		}
	case fromAttachmentTypes, fromListID:
		return lowerASCII(text)
	}
	return strings.ToLower(text)
}

// A reading has the texts of a source in one message.
type reading struct {
	raw     []string
	folded  []string
	isRead  bool
	foldedN bool
}

// Texts returns the texts of the source in the message.
func (v *view) Texts(id int32) []string {
	r := &v.readings[id]
	if !r.isRead {
		r.raw, r.isRead = v.read(r.raw[:0], &v.code.sources[id]), true
	}
	return r.raw
}

// FoldedTexts returns the texts of the source in the form in which case does not count.
func (v *view) FoldedTexts(id int32) []string {
	r := &v.readings[id]
	if !r.foldedN {
		src := &v.code.sources[id]
		r.folded, r.foldedN = r.folded[:0], true
		for _, text := range v.Texts(id) {
			r.folded = append(r.folded, src.fold(text))
		}
	}
	return r.folded
}

func (v *view) read(to []string, src *textSource) []string {
	one := func(text string) []string {
		if text == "" {
			return to
		}
		return append(to, text)
	}
	switch src.from {
	case fromSubject:
		return one(v.msg.Subject)
	case fromBody:
		return one(v.body().Text)
	case fromBodyLine:
		return one(oneLine(v.body().Text))
	case fromHeader:
		for i := range v.msg.Headers {
			if h := &v.msg.Headers[i]; equalASCIIFold(h.Name, src.header) {
				to = append(to, h.Value)
			}
		}
		return to
	case fromListID:
		return one(v.list().ID)
	case fromLabels:
		return append(to, v.msg.LabelIDs...)
	case fromAccount:
		return one(v.msg.AccountID)
	case fromAttachmentNames, fromAttachmentTypes:
		return v.attachmentTexts(to, src.from == fromAttachmentNames)
	default:
		return v.addressTexts(to, src)
	}
}

func (v *view) attachmentTexts(to []string, names bool) []string {
	for i := range v.msg.Attachments {
		a := &v.msg.Attachments[i]
		text := a.Filename
		if !names {
			text, _, _ = strings.Cut(a.ContentType, ";")
			text = strings.TrimSpace(text)
		}
		if text != "" {
			to = append(to, text)
		}
	}
	return to
}

func (v *view) addressTexts(to []string, src *textSource) []string {
	v.eachAddressAt(src.lists, src.index, func(a *postroom.Address) {
		if text, ok := partOf(a, src.part); ok {
			to = append(to, text)
		}
	})
	return to
}

// eachAddress calls yield with the addresses of the fields, in the order of the fields' names above.
func (v *view) eachAddress(lists addresses, yield func(a *postroom.Address)) {
	if lists&inFrom != 0 && !v.msg.From.IsZero() {
		yield(&v.msg.From)
	}
	for _, l := range []struct {
		bit  addresses
		list []postroom.Address
	}{{inReplyTo, v.msg.ReplyTo}, {inTo, v.msg.To}, {inCc, v.msg.Cc}, {inBcc, v.msg.Bcc}} {
		for i := range l.list {
			if lists&l.bit != 0 {
				yield(&l.list[i])
			}
		}
	}
	for i := range inHeader {
		if f := &inHeader[i]; lists&f.bit != 0 {
			v.eachHeaderAddress(f.name, f.first, yield)
		}
	}
}

// eachHeaderAddress calls yield with the addresses of the header fields of a name, or of the topmost of them.
func (v *view) eachHeaderAddress(name string, first bool, yield func(a *postroom.Address)) {
	for i := range v.msg.Headers {
		h := &v.msg.Headers[i]
		if !equalASCIIFold(h.Name, name) {
			continue
		}
		if first {
			if path, ok := mailPath(h.Value); ok {
				yield(&postroom.Address{Email: path})
			}
			return
		}
		yieldAddresses(h.Value, yield)
	}
}

// mailPath returns the address of an SMTP path that a server wrote (RFC 5321, section 4.1.2): with or without angle
// brackets, and without a route. A null or invalid path has none.
func mailPath(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if inner, ok := strings.CutPrefix(value, "<"); ok {
		if value, ok = strings.CutSuffix(inner, ">"); !ok {
			return "", false
		}
	}
	for strings.HasPrefix(value, "@") {
		end := strings.IndexAny(value, ",:")
		if end < 0 || !isMailDomain(value[1:end]) {
			return "", false
		}
		ended := value[end] == ':'
		if value = value[end+1:]; !ended && !strings.HasPrefix(value, "@") {
			return "", false
		}
	}
	at := strings.LastIndexByte(value, '@')
	if at <= 0 || !isMailDomain(value[at+1:]) {
		return "", false
	}
	local := value[:at]
	quoted := len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"'
	if !quoted && strings.ContainsAny(local, " \t<>()[]:;@\\,\"") {
		return "", false
	}
	return value, true
}

func isMailDomain(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t<>()@,;\"") && !strings.HasPrefix(s, ".") &&
		!strings.HasSuffix(s, ".") && !strings.Contains(s, "..")
}

// partOf returns a part of an address, with an international domain in ASCII; false if the address does not have it.
func partOf(a *postroom.Address, part string) (string, bool) {
	if part == PartName {
		return a.Name, a.Name != ""
	}
	local, domain := a.Email, ""
	if at := strings.LastIndexByte(a.Email, '@'); at >= 0 {
		local, domain = a.Email[:at], a.Email[at+1:]
	}
	if (local == "" || domain == "") && part != PartAddress {
		return "", false // RFC 5228, section 2.7.4: an invalid address has no parts
	}
	user, detail, hasDetail := strings.Cut(local, "+")
	switch part {
	case PartLocal:
		return local, local != ""
	case PartUser:
		return user, user != ""
	case PartDetail:
		return detail, hasDetail
	case PartDomain:
		return mailname.ASCII(domain), domain != ""
	case PartSite:
		return authres.OrganizationalDomain(domain), domain != ""
	default:
		return mailname.ASCIIAddress(a.Email), a.Email != ""
	}
}

// inMessage are the address fields that a message has parsed, all of a name together.
var inMessage = []struct {
	bit  addresses
	name string
}{{inFrom, "From"}, {inReplyTo, "Reply-To"}, {inTo, "To"}, {inCc, "Cc"}, {inBcc, "Bcc"}}

// eachAddressAt is eachAddress for one of several fields of each name, unless the index is 0.
func (v *view) eachAddressAt(lists addresses, index int, yield func(a *postroom.Address)) {
	if index == 0 {
		v.eachAddress(lists, yield)
		return
	}
	for _, f := range inMessage {
		if lists&f.bit != 0 {
			v.addressesAt(f.bit, f.name, index, yield)
		}
	}
	for i := range inHeader {
		if f := &inHeader[i]; lists&f.bit != 0 {
			v.addressesAt(f.bit, f.name, index, yield)
		}
	}
}

// addressesAt takes the addresses as the message has them unless there are several fields of the name.
func (v *view) addressesAt(field addresses, name string, index int, yield func(a *postroom.Address)) {
	values := v.msg.Header(name)
	if len(values) < 2 || field&(inEnvelopeFrom|inEnvelopeTo) != 0 { // of the envelope there is one
		values = []string{""}
		if len(indexed(values, index)) == 1 {
			v.eachAddress(field, yield)
		}
		return
	}
	for _, value := range indexed(values, index) {
		yieldAddresses(value, yield)
	}
}

func yieldAddresses(value string, yield func(a *postroom.Address)) {
	parsed, _ := mime.ParseAddresses(value)
	for _, a := range parsed {
		yield(&postroom.Address{Name: a.Name, Email: a.Email})
	}
}

// equalASCIIFold reports whether a name is the one in lower case.
func equalASCIIFold(name, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// mimeHeader returns the header as package mime has it.
func (v *view) mimeHeader() mime.Header {
	if v.fields == nil {
		v.fields = slices.Grow(mime.Header{}, len(v.msg.Headers))
		for _, h := range v.msg.Headers {
			v.fields = append(v.fields, mime.Field{Name: h.Name, Value: h.Value})
		}
	}
	return v.fields
}

func (v *view) list() *mime.List {
	if v.listFacts == nil {
		l := v.mimeHeader().List()
		v.listFacts = &l
	}
	return v.listFacts
}

// IsAddressField reports whether conditions may name the address field.
func IsAddressField(name string) bool {
	_, ok := addressLists[name]
	return ok
}
