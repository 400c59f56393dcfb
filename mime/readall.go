package mime

import (
	"bytes"
	"io"
	"slices"
)

// sizeOf returns the number of bytes that a reader reports, at most limit; 0 if it reports none.
func sizeOf(r io.Reader, limit int) int {
	if sized, ok := r.(interface{ Len() int }); ok { // bytes.Reader, bytes.Buffer, strings.Reader
		return min(sized.Len(), limit)
	}
	return 0
}

// readAll reads all of r. [io.ReadAll] copies its data whenever the buffer is full, and its last buffer may be a
// quarter too large. readAll copies each byte at most once more.
func readAll(r io.Reader, size int) ([]byte, error) {
	const smallest, largest = 16 << 10, 4 << 20
	chunk := make([]byte, 0, max(size+1, smallest))
	var full [][]byte
	for {
		n, err := r.Read(chunk[len(chunk):cap(chunk)])
		chunk = chunk[:len(chunk)+n]
		switch {
		case err == io.EOF && full == nil:
			return slices.Clip(chunk), nil
		case err == io.EOF:
			return bytes.Join(append(full, chunk), nil), nil
		case err != nil:
			return nil, err
		case len(chunk) == cap(chunk):
			full = append(full, chunk)
			chunk = make([]byte, 0, min(2*cap(chunk), largest))
		}
	}
}
