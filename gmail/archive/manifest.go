package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// format is the form of manifests.
const format = "postroom-archive/1"

// The bounds of a manifest. A message has at most as many labels as Gmail permits in a mailbox.
const (
	maxLines  = 10_000
	maxLine   = 4 << 20 // bytes
	maxLabels = 10_000
)

// A Header is the first line of a manifest.
type Header struct {
	Format    string    `json:"format"` // postroom-archive/1
	AccountID string    `json:"account"`
	Email     string    `json:"email"`
	Number    int64     `json:"number"`   // from 1
	Previous  string    `json:"previous"` // the SHA-256 of the manifest before it; empty for the first
	WrittenAt time.Time `json:"written_at"`
	Lines     int       `json:"lines"` // that follow
	// HistoryID is Gmail's history id up to which changes are archived from here on; 0: as before.
	HistoryID uint64 `json:"history_id,omitempty"`
	// Records is the cursor of [Records] after the records of this manifest; empty: as before.
	Records string `json:"records,omitempty"`
}

// A State says where a message was when an [Entry] was written.
type State string

// The states of a message.
const (
	Present State = "present" // in the mailbox
	Trashed State = "trashed" // in the trash
	Gone    State = "gone"    // deleted for ever
)

// A Label is a label as it was named when an [Entry] was written.
type Label struct {
	ID   string `json:"id"` // Gmail's
	Name string `json:"name"`
}

// An Entry is an archived message, and its state from then on.
type Entry struct {
	MessageID  string    `json:"id"` // Gmail's
	ThreadID   string    `json:"thread"`
	SHA256     string    `json:"sha256"` // of the raw message, in hexadecimal
	Size       int64     `json:"size"`   // of the raw message, in bytes
	ReceivedAt time.Time `json:"received_at,omitzero"`
	// RFCMessageID is the Message-ID without angle brackets; empty if there is none.
	RFCMessageID string  `json:"message_id,omitempty"`
	Labels       []Label `json:"labels"`
	State        State   `json:"state"`
	// Removed says that the copy was removed on purpose; see [Config].KeepMonths.
	Removed bool `json:"removed,omitempty"`
}

// check returns what is wrong with an entry that was read.
func (e *Entry) check() error {
	switch {
	case e.MessageID == "" || len(e.MessageID) > 200:
		return errors.New("an entry has no id of a message")
	case !rawName.MatchString("raw/00/" + e.SHA256 + rawEnd):
		return fmt.Errorf("the entry of message %s has no SHA-256", e.MessageID)
	case e.Size < 0 || e.Size > maxMail:
		return fmt.Errorf("the entry of message %s has the size %d", e.MessageID, e.Size)
	case e.State != Present && e.State != Trashed && e.State != Gone:
		return fmt.Errorf("the entry of message %s has the unknown state %q", e.MessageID, e.State)
	case len(e.Labels) > maxLabels || slices.ContainsFunc(e.Labels, func(l Label) bool { return l.ID == "" }):
		return fmt.Errorf("the entry of message %s has more than %d labels, or one without an id", e.MessageID, maxLabels)
	}
	return nil
}

// A line of a manifest, after the first.
type line struct {
	Mail   *Entry          `json:"mail,omitempty"`
	Record json.RawMessage `json:"record,omitempty"`
	// read says that the message was written, or read and found right, just now.
	read bool
}

// A manifest is one link of the chain.
type manifest struct {
	Header
	lines []line
}

func (m *manifest) encode() ([]byte, error) {
	m.Format, m.Lines = format, len(m.lines)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(m.Header)
	for i := range m.lines {
		before := out.Len()
		err = errors.Join(err, encoder.Encode(m.lines[i]))
		if n := out.Len() - before; n > maxLine {
			err = errors.Join(err, fmt.Errorf("line %d has %d bytes, more than %d", i+2, n, maxLine))
		}
	}
	if err == nil && out.Len() > maxManifest {
		err = fmt.Errorf("it has %d bytes, more than %d", out.Len(), maxManifest)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: manifest %d: %w", m.Number, err)
	}
	return out.Bytes(), nil
}

// decodeManifest reads a manifest of an account; everything in it is checked.
func decodeManifest(accountID string, number int64, content []byte) (*manifest, error) {
	m := &manifest{}
	content = bytes.TrimSuffix(content, []byte("\n"))
	if n := bytes.Count(content, []byte("\n")); n > maxLines {
		return nil, fmt.Errorf("it has %d lines after the first, more than %d", n, maxLines)
	}
	texts := bytes.Split(content, []byte("\n"))
	for i, text := range texts {
		if len(text) > maxLine {
			return nil, fmt.Errorf("line %d has %d bytes, more than %d", i+1, len(text), maxLine)
		}
	}
	if err := json.Unmarshal(texts[0], &m.Header); err != nil {
		return nil, fmt.Errorf("its first line: %w", err)
	}
	switch {
	case m.Format != format:
		return nil, fmt.Errorf("its format is %.40q, and this program reads %q", m.Format, format)
	case m.AccountID != accountID || m.Number != number:
		return nil, fmt.Errorf("it is number %d of account %.64q, under another name", m.Number, m.AccountID)
	case m.Lines != len(texts)-1:
		return nil, fmt.Errorf("it has %d lines after the first, and says that there are %d", len(texts)-1, m.Lines)
	}
	m.lines = make([]line, m.Lines)
	for i, text := range texts[1:] {
		if err := json.Unmarshal(text, &m.lines[i]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if e := m.lines[i].Mail; e != nil {
			if err := e.check(); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+2, err)
			}
		}
	}
	return m, nil
}
