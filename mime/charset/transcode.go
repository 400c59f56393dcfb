package charset

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// large is the size from which the length of a text in UTF-8 is counted before it is written, so that it is in memory
// once.
const large = 32 << 10

// transcode converts bytes in a charset, or in UTF-8 if it is nil, to UTF-8. With unixLines, it converts CRLF to LF
// and removes a byte order mark.
func transcode(b []byte, enc encoding.Encoding, unixLines bool) string {
	var out strings.Builder
	if len(b) > large {
		size := 0
		pour(b, enc, unixLines, func(text []byte) { size += len(text) })
		out.Grow(size)
	}
	pour(b, enc, unixLines, func(text []byte) { out.Write(text) })
	return out.String()
}

// pour is transcode in small pieces.
func pour(b []byte, enc encoding.Encoding, unixLines bool, write func([]byte)) {
	var decoder transform.Transformer = transform.Nop
	if enc != nil {
		decoder = enc.NewDecoder()
	}
	w := pourer{unixLines: unixLines}
	w.pour(b, decoder, write)
}

// A pourer converts a text in small pieces.
type pourer struct {
	unixLines bool
	begun     bool
	cr        bool // a CR is held back until the next byte is known
}

func (p *pourer) pour(b []byte, decoder transform.Transformer, write func([]byte)) {
	piece := make([]byte, 1+min(4<<10, 3*len(b)+utf8.UTFMax)) // and a CR that was held back
	for {
		nDst, nSrc, err := decoder.Transform(piece[1:], b, true)
		b = b[nSrc:]
		write(p.lines(piece, nDst))
		if !errors.Is(err, transform.ErrShortDst) || nSrc+nDst == 0 {
			break
		}
	}
	if p.cr {
		write([]byte{'\r'})
	}
}

// lines returns the n bytes of text after the first byte of piece, with their line ends converted.
func (p *pourer) lines(piece []byte, n int) []byte {
	text := piece[1 : 1+n]
	if !p.unixLines || n == 0 {
		return text
	}
	if !p.begun {
		p.begun = true
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	}
	if p.cr && !bytes.HasPrefix(text, []byte{'\n'}) {
		piece[0] = '\r' // text begins at 1, since a mark is only in the first piece
		text = piece[:1+n]
	}
	if p.cr = bytes.HasSuffix(text, []byte{'\r'}); p.cr {
		text = text[:len(text)-1]
	}
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	out := text[:0]
	for i, c := range text {
		if c != '\r' || i+1 == len(text) || text[i+1] != '\n' {
			out = append(out, c)
		}
	}
	return out
}
