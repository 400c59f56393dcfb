package charset

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// iso2022KR is ISO-2022-KR (RFC 1557), which x/text does not know: EUC-KR in seven bits, between shifts.
type iso2022KR struct {
	encoding.Encoding // EUC-KR
}

// NewDecoder returns a decoder.
func (e iso2022KR) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: transform.Chain(&eightBits{}, e.Encoding.NewDecoder())}
}

// eightBits sets the eighth bit of what is shifted.
type eightBits struct{ shifted bool }

const (
	shiftOut = 0x0e
	shiftIn  = 0x0f
)

// designation begins a text; it may begin each line.
var designation = []byte("\x1b$)C")

// Reset begins a text.
func (t *eightBits) Reset() { t.shifted = false }

// Transform converts a piece of a text.
func (t *eightBits) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		switch c := rest[0]; {
		case bytes.HasPrefix(rest, designation):
			nSrc += len(designation)
			continue
		case !atEOF && bytes.HasPrefix(designation, rest):
			return nDst, nSrc, transform.ErrShortSrc
		case c == shiftOut, c == shiftIn, c == '\n':
			t.shifted = c == shiftOut
			if c != '\n' {
				nSrc++
				continue
			}
		}
		if nDst == len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		dst[nDst] = rest[0]
		if t.shifted && rest[0] > ' ' {
			dst[nDst] |= 0x80
		}
		nDst, nSrc = nDst+1, nSrc+1
	}
	return nDst, nSrc, nil
}
