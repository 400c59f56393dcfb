package mailbox

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// OpenMbox opens an mbox file, plain or compressed with gzip, whatever its name. It reads the dialects mboxo, mboxrd
// and mboxcl, with LF or CRLF. The file's identity ([Source].Name) is its absolute path.
//
// Its error is an [*OpenError].
func OpenMbox(path string) (Source, error) {
	info, err := stat(path, "an mbox is a file; name a folder as a maildir or as a folder of .eml files")
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, notMailbox(path, "is empty", "")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &OpenError{Path: path, What: "has no absolute path: " + err.Error(), Err: err}
	}
	box := &mbox{path: path, name: "mbox:" + abs, written: info.ModTime()}
	return box, box.check()
}

// stat checks a file. A folder is refused with the hint.
func stat(path, folderHint string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, accessError(path, err)
	case info.IsDir():
		return nil, notMailbox(path, "is a folder", folderHint)
	default:
		return info, nil
	}
}

func accessError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &OpenError{Path: path, What: "does not exist", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &OpenError{Path: path, What: "cannot be read: permission denied", Err: err}
	default:
		return &OpenError{Path: path, What: "cannot be read: " + err.Error(), Err: err}
	}
}

type mbox struct {
	path    string
	name    string
	written time.Time
}

var _ Source = (*mbox)(nil)

// Name implements [Source].
func (m *mbox) Name() string { return m.name }

// sniffSize reaches the magic of a tar archive.
const sniffSize = 512

// check reads the beginning of the file.
func (m *mbox) check() error {
	in, err := m.open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	beginning := bufio.NewReaderSize(in, chunkSize)
	first, _ := beginning.Peek(sniffSize)
	instead, err := newSplitter(beginning).start()
	switch {
	case errors.Is(err, io.EOF):
		return notMailbox(m.path, "is empty", "")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &OpenError{Path: m.path, What: "is cut short before its first message", Err: ErrCutShort}
	case err != nil:
		return &OpenError{Path: m.path, What: "cannot be read: " + err.Error(), Err: err}
	case instead != nil:
		return refuse(m.path, first, instead)
	default:
		return nil
	}
}

// open opens the file and decompresses it if needed.
func (m *mbox) open() (io.ReadCloser, error) {
	file, err := os.Open(m.path)
	if err != nil {
		return nil, accessError(m.path, err)
	}
	in := bufio.NewReaderSize(file, chunkSize)
	magic, _ := in.Peek(len(gzipMagic))
	if !bytes.Equal(magic, gzipMagic) {
		return fileReader{in, file}, nil
	}
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		_ = file.Close()
		return nil, notMailbox(m.path, "begins like a gzip file and is none: "+err.Error(), "")
	}
	return fileReader{padded{unpacked}, file}, nil
}

// padded reads a gzip file. QUIRK: tapes and some downloads pad it with zeros, or append other data. Like gzip(1), it
// ignores everything after the last member.
type padded struct{ *gzip.Reader }

func (p padded) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if errors.Is(err, gzip.ErrHeader) {
		err = io.EOF
	}
	return n, err
}

// A fileReader reads from one reader and closes the underlying file.
type fileReader struct {
	io.Reader
	io.Closer
}

// Messages implements [Source]. Each call opens the file anew.
func (m *mbox) Messages() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		in, err := m.open()
		if err != nil {
			yield(Message{}, err)
			return
		}
		defer func() { _ = in.Close() }()
		if err := m.each(in, func(msg Message) bool { return yield(msg, nil) }); err != nil {
			yield(Message{}, err)
		}
	}
}

func (m *mbox) each(in io.Reader, yield func(Message) bool) error {
	s := newSplitter(in)
	_, err := s.start()
	for position := 1; err == nil; position++ {
		var from, raw []byte
		var size int64
		from, raw, size, err = s.next()
		if err == nil && !yield(m.message(position, from, raw, size)) {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w after message %d: %w", m.path, ErrCutShort, position-1, err)
		}
	}
	return nil
}

func (m *mbox) message(position int, from, raw []byte, size int64) Message {
	msg := Message{Position: position, Raw: raw, Received: fromLineDate(from), Problem: oversize(size)}
	msg.describe()
	if msg.Received.IsZero() {
		msg.Received = m.written.UTC()
	}
	return msg
}

func oversize(size int64) string {
	if size <= MaxMessage {
		return ""
	}
	return fmt.Sprintf("the message has %d bytes; the largest that Gmail takes has %d", size, MaxMessage)
}
