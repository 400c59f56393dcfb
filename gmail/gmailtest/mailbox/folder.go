package mailbox

import (
	"io"
	"io/fs"
	"iter"
	"os"
	"time"
)

// An entry is a message with a file of its own.
type entry struct {
	name     string // the name of the message
	path     string
	flags    Flags
	received time.Time // zero if the name has no time
}

// A folder is a mailbox of entries, listed when it was opened.
type folder struct {
	name    string
	entries []entry
}

var _ Source = (*folder)(nil)

// Name implements [Source].
func (f *folder) Name() string { return f.name }

// Messages implements [Source].
func (f *folder) Messages() iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for i, e := range f.entries {
			if !yield(e.message(i+1), nil) {
				return
			}
		}
	}
}

func (e entry) message(position int) Message {
	msg := Message{Position: position, Name: e.name, Flags: e.flags, Received: e.received}
	raw, info, err := readBounded(e.path)
	if err != nil {
		msg.Problem = "its file cannot be read: " + err.Error()
		return msg
	}
	msg.Raw, msg.Problem = raw, oversize(info.Size())
	msg.describe()
	if msg.Received.IsZero() {
		msg.Received = info.ModTime().UTC()
	}
	return msg
}

// readBounded reads a file of at most MaxMessage bytes, or the beginning of a larger one.
func readBounded(path string) ([]byte, fs.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	limit := info.Size()
	if limit > MaxMessage {
		limit = OversizeKept
	}
	raw, err := io.ReadAll(io.LimitReader(file, limit))
	return raw, info, err
}
