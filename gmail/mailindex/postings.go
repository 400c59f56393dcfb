package mailindex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// Postings say when messages with a term were received. Those of all terms of one slot, and of one bucket of time,
// are the bytes of one row: entries in the order of their keys, each the key in three bytes, the length of the rest
// as a varint, and the seconds within the bucket, ascending, as varints of the differences.

// A bucket is a range of 2^20 seconds, about twelve days.
const bucketBits = 20

func bucketOf(second int64) int64 { return second >> bucketBits }

func offsetIn(second int64) uint32 { return uint32(second & (1<<bucketBits - 1)) }

// maxPostings is the size, in bytes, from which a row grows no more: later postings begin another.
const maxPostings = 4000

// A posting is one second of the term with the key.
type posting struct {
	key    uint32
	offset uint32
}

func comparePostings(a, b posting) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offset, b.offset))
}

var errPostings = errors.New("mailindex: the index of searches is damaged: postings cannot be read; " +
	"delete the rows of message_terms, and insert account_id, id and the second of the receipt of all messages into unindexed_messages")

const keyBytes = 3

// nextEntry cuts the first entry off.
func nextEntry(postings []byte) (key uint32, offsets, rest []byte, err error) {
	if len(postings) <= keyBytes {
		return 0, nil, nil, errPostings
	}
	key = uint32(postings[0])<<16 | uint32(postings[1])<<8 | uint32(postings[2])
	size, n := binary.Uvarint(postings[keyBytes:])
	if n <= 0 || size > uint64(len(postings)-keyBytes-n) {
		return 0, nil, nil, errPostings
	}
	offsets = postings[keyBytes+n:]
	return key, offsets[:size], offsets[size:], nil
}

func appendEntry(out []byte, key uint32, offsets []byte) []byte {
	out = append(out, byte(key>>16), byte(key>>8), byte(key))
	out = binary.AppendUvarint(out, uint64(len(offsets)))
	return append(out, offsets...)
}

// findPostings appends the seconds of the term with the key.
func findPostings(to []uint32, postings []byte, key uint32) ([]uint32, error) {
	for len(postings) > 0 {
		at, offsets, rest, err := nextEntry(postings)
		switch {
		case err != nil:
			return nil, err
		case at == key:
			return decodeOffsets(to, offsets)
		case at > key:
			return to, nil
		}
		postings = rest
	}
	return to, nil
}

func decodeOffsets(to []uint32, in []byte) ([]uint32, error) {
	at := uint64(0)
	for len(in) > 0 {
		more, n := binary.Uvarint(in)
		if n <= 0 {
			return nil, errPostings
		}
		at += more
		to = append(to, uint32(at))
		in = in[n:]
	}
	return to, nil
}

func encodeOffsets(to []byte, offsets []uint32) []byte {
	last := uint32(0)
	for _, at := range offsets {
		to = binary.AppendUvarint(to, uint64(at-last))
		last = at
	}
	return to
}

// A merger adds postings to rows; its memory is used again.
type merger struct {
	offsets []uint32
	encoded []byte
}

// merge returns a row with more postings, which must be in order and unique.
func (m *merger) merge(row []byte, more []posting) ([]byte, error) {
	out := make([]byte, 0, len(row)+4*len(more)+8)
	for len(row) > 0 {
		key, old, rest, err := nextEntry(row)
		if err != nil {
			return nil, err
		}
		for len(more) > 0 && more[0].key < key {
			out, more = m.add(out, more, nil)
		}
		if len(more) > 0 && more[0].key == key {
			if m.offsets, err = decodeOffsets(m.offsets[:0], old); err != nil {
				return nil, err
			}
			out, more = m.add(out, more, m.offsets)
		} else {
			out = appendEntry(out, key, old)
		}
		row = rest
	}
	for len(more) > 0 {
		out, more = m.add(out, more, nil)
	}
	return out, nil
}

// add appends the entry of the first key, with the seconds that it had, and returns the postings of the others.
func (m *merger) add(out []byte, more []posting, had []uint32) ([]byte, []posting) {
	key := more[0].key
	offsets := m.offsets[:0]
	offsets = append(offsets, had...) // which may be m.offsets itself
	for len(more) > 0 && more[0].key == key {
		offsets = append(offsets, more[0].offset)
		more = more[1:]
	}
	if len(had) > 0 && offsets[len(had)] <= had[len(had)-1] { // they are older than the existing ones
		slices.Sort(offsets)
		offsets = slices.Compact(offsets)
	}
	m.offsets = offsets
	m.encoded = encodeOffsets(m.encoded[:0], offsets)
	return appendEntry(out, key, m.encoded), more
}
