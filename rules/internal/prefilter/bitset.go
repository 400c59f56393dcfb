package prefilter

import "math/bits"

// A bitset is a set of small numbers.
type bitset []uint64

func newBitset(size int) bitset { return make(bitset, (size+63)/64) }

func (b bitset) has(i int32) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i int32)      { b[i/64] |= 1 << (i % 64) }

func (b bitset) addAll(list []int32) {
	for _, i := range list {
		b.add(i)
	}
}

// resized returns an empty set of numbers below size, in the memory of another if that is enough.
func resized(b bitset, size int) bitset {
	words := (size + 63) / 64
	if cap(b) < words {
		return newBitset(size)
	}
	b = b[:words]
	clear(b)
	return b
}

// next returns the first number of the set from one on; -1 if there is none.
func (b bitset) next(from int32) int32 {
	word := int(from / 64)
	if word >= len(b) {
		return -1
	}
	rest := b[word] >> (from % 64) << (from % 64)
	for rest == 0 {
		if word++; word == len(b) {
			return -1
		}
		rest = b[word]
	}
	return int32(word*64 + bits.TrailingZeros64(rest))
}
