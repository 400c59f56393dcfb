package mailindex

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

// A term is the hash by which the search index finds messages: of a word in a field, of a mark, of a size to the
// power of two, or of a Message-ID. A hash collision costs the reading of a message that does not match.
type term uint32

// The low bits of a term choose its row, the others its place in it.
const slotBits = 9

func (t term) slot() int   { return int(t & (1<<slotBits - 1)) }
func (t term) key() uint32 { return uint32(t) >> slotBits }

// The kinds of terms that are no words of a field.
const (
	markTerm      = "has"
	sizeTerm      = "size"
	messageIDTerm = "rfc822msgid"
)

// termOf hashes a value of a kind. The hashes are stored: to change them is a migration.
func termOf(kind, value string) term {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	h := uint32(offset)
	for i := range len(kind) {
		h = (h ^ uint32(kind[i])) * prime
	}
	h *= prime
	for i := range len(value) {
		h = (h ^ uint32(value[i])) * prime
	}
	// The low bits choose the row, so they must depend on all others.
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return term(h ^ h>>16)
}

func wordTerm(field gmailquery.Field, word string) term {
	return termOf(string(indexedAs(field)), word)
}

// indexedAs returns the field whose indexed words include those of a field: all recipients are one, and the body is
// found by the words anywhere.
func indexedAs(field gmailquery.Field) gmailquery.Field {
	switch field {
	case gmailquery.CC, gmailquery.BCC:
		return gmailquery.Recipient
	case gmailquery.Body:
		return gmailquery.Anywhere
	default:
		return field
	}
}

// Sizes below 1 KB are one class, and those from 32 MB on, which Gmail does not take in.
const firstSizeClass, lastSizeClass = 10, 26

// sizeClass is the number of bits of a size, within the classes that there are.
func sizeClass(size int64) int {
	return min(max(bits.Len64(uint64(max(size, 0))), firstSizeClass), lastSizeClass)
}

func sizeClassTerm(class int) term { return termOf(sizeTerm, string(rune('0'+class))) }

// indexedFields are the fields whose words are terms, and whether a query without a field searches them.
var indexedFields = []struct {
	field    gmailquery.Field
	anywhere bool
}{
	{gmailquery.Sender, true},
	{gmailquery.Recipient, true},
	{gmailquery.Subject, true},
	{gmailquery.Filename, true},
	{gmailquery.Body, true},
	{gmailquery.List, false},
	{gmailquery.Delivered, false},
}

// messageTerms returns the terms of a message, unique and in order. They are made of the texts that
// [searchLabels.document] compares.
func messageTerms(m *postroom.Message, bodies *bodytext.Reader) []term {
	terms := make([]term, 0, 512)
	for _, f := range indexedFields {
		named := indexedAs(f.field) != gmailquery.Anywhere
		for _, text := range fieldTexts(m, f.field, bodies) {
			gmailquery.EachWord(text, func(word string) {
				if named {
					terms = append(terms, wordTerm(f.field, word))
				}
				if f.anywhere {
					terms = append(terms, wordTerm(gmailquery.Anywhere, word))
				}
			})
		}
	}
	for _, mark := range marksOf(m) {
		terms = append(terms, termOf(markTerm, mark))
	}
	terms = append(terms, sizeClassTerm(sizeClass(m.Size)), termOf(messageIDTerm, dbvalue.Clean(m.MessageID)))
	slices.Sort(terms)
	return slices.Compact(terms)
}

// encodeTerms writes terms for a column.
func encodeTerms(terms []term) []byte {
	out := make([]byte, 0, 4*len(terms))
	for _, t := range terms {
		out = binary.LittleEndian.AppendUint32(out, uint32(t))
	}
	return out
}

// decodeTerms decodes the result of encodeTerms.
func decodeTerms(in []byte) []term {
	terms := make([]term, len(in)/4)
	for i := range terms {
		terms[i] = decodeTerm(in[4*i:])
	}
	return terms
}

func decodeTerm(in []byte) term { return term(binary.LittleEndian.Uint32(in)) }

// Terms returns the terms of a message for [Index.Add]. They are better made before the transaction begins.
func Terms(ctx context.Context, m *postroom.Message) []byte {
	return encodeTerms(messageTerms(m, bodytext.From(ctx)))
}
