package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A Format is a form of files that other programs read.
type Format string

// The formats of [Archive.Export].
const (
	// Mbox is one file with all messages (RFC 4155), in which lines that begin with From are quoted as in mboxrd, so that
	// the bytes of each message can be had again. Labels are in the field X-Gmail-Labels before each message, as in
	// Google Takeout.
	Mbox Format = "mbox"
	// Maildir is a folder with a file for each message, byte for byte. Flags stand for UNREAD, STARRED and TRASH.
	Maildir Format = "maildir"
	// Zip is one file with a file for each message, byte for byte, and their entries as JSON lines in index.jsonl.
	Zip Format = "zip"
)

// Exported says what [Archive.Export] has done.
type Exported struct {
	Messages int
	Bytes    int64
	// Faults are the messages that were left out, since their objects are not right: at most 100 of them. Faulty counts
	// all.
	Faults []Fault
	Faulty int
}

const maxExportFaults = 100

// Export writes the selected messages to a path, which must not exist yet. It needs no Gmail, and no Store in [Config].
// A message whose object is not right is left out and named. After another error what was written stays, without its
// last part.
func (a *Archive) Export(ctx context.Context, accountID string, s Selection, format Format, path string) (Exported,
	error) {
	var done Exported
	to, err := newExporter(format, path)
	if err != nil {
		return done, fmt.Errorf("archive: export: %w", err)
	}
	for e, err := range a.Entries(ctx, accountID, "", s) {
		var raw []byte
		if err == nil {
			raw, err = a.readMail(ctx, accountID, e.SHA256, e.Size)
		}
		if isFault(err) {
			if done.Faulty++; done.Faulty <= maxExportFaults {
				done.Faults = append(done.Faults, Fault{e.MessageID, rawKey(accountID, e.SHA256, a.sealed()), err.Error()})
			}
			continue
		}
		if err == nil {
			err = to.add(&e, raw)
		}
		if err != nil {
			return done, fmt.Errorf("archive: export: %w", errors.Join(err, to.close()))
		}
		done.Messages++
		done.Bytes += e.Size
	}
	if err := to.close(); err != nil {
		return done, fmt.Errorf("archive: export: %w", err)
	}
	return done, nil
}

type exporter interface {
	add(e *Entry, raw []byte) error
	close() error
}

func newExporter(format Format, path string) (exporter, error) {
	if format == Maildir {
		return newMaildir(path)
	}
	if format != Mbox && format != Zip {
		return nil, fmt.Errorf("the format %q is unknown; use %s, %s or %s", format, Mbox, Maildir, Zip)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	out := &exportFile{f, bufio.NewWriterSize(f, 1<<20)}
	if format == Mbox {
		return &mboxWriter{out}, nil
	}
	return newZip(out)
}

// An exportFile is a file that is durable when it is closed.
type exportFile struct {
	file *os.File
	*bufio.Writer
}

func (f *exportFile) close() error { return errors.Join(f.Flush(), f.file.Sync(), f.file.Close()) }

type mboxWriter struct{ *exportFile }

func (w *mboxWriter) add(e *Entry, raw []byte) error {
	at := e.ReceivedAt
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	fmt.Fprintf(w, "From %s@xxx %s\n", e.MessageID, at.UTC().Format(time.ANSIC))
	fmt.Fprintf(w, "X-Gmail-Labels: %s\n", strings.Join(labelTexts(e.Labels), ","))
	for text := range bytes.Lines(raw) {
		if bytes.HasPrefix(bytes.TrimLeft(text, ">"), []byte("From ")) {
			_ = w.WriteByte('>')
		}
		_, _ = w.Write(text)
	}
	if !bytes.HasSuffix(raw, []byte("\n")) {
		_ = w.WriteByte('\n')
	}
	return w.WriteByte('\n') // the first error of a bufio.Writer is that of all later calls
}

// labelTexts returns the names of labels, without the characters that end a name or a line.
func labelTexts(labels []Label) []string {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = strings.Map(func(r rune) rune {
			if r == ',' || r < ' ' {
				return ' '
			}
			return r
		}, l.Name)
	}
	return names
}

type maildir struct {
	dir  string
	made int
}

func newMaildir(dir string) (*maildir, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	return &maildir{dir: dir}, nil
}

func (m *maildir) add(e *Entry, raw []byte) error {
	has := func(id string) bool { return slices.ContainsFunc(e.Labels, func(l Label) bool { return l.ID == id }) }
	flags := "" // in the order of the alphabet
	if has(postroom.LabelStarred) {
		flags += "F"
	}
	if !has(postroom.LabelUnread) {
		flags += "S"
	}
	if e.State == Trashed {
		flags += "T"
	}
	m.made++
	name := fmt.Sprintf("%d.%d_%s.postroom:2,%s", max(e.ReceivedAt.Unix(), 0), m.made, e.SHA256[:16], flags)
	path := filepath.Join(m.dir, "tmp", name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && !e.ReceivedAt.IsZero() {
		err = os.Chtimes(path, e.ReceivedAt, e.ReceivedAt)
	}
	if err != nil {
		return err
	}
	return os.Rename(path, filepath.Join(m.dir, "cur", name))
}

func (m *maildir) close() error {
	f, err := os.Open(filepath.Join(m.dir, "cur"))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type zipWriter struct {
	out   *exportFile
	zip   *zip.Writer
	index *os.File // of the entries, until the end
	made  int
}

func newZip(out *exportFile) (*zipWriter, error) {
	index, err := os.CreateTemp("", "postroom-export-")
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	return &zipWriter{out: out, zip: zip.NewWriter(out), index: index}, nil
}

// name is the path of a message in the file. The id is Gmail's, and of the bucket: it becomes no path.
func (z *zipWriter) name(e *Entry) string {
	z.made++
	month := "undated"
	if !e.ReceivedAt.IsZero() {
		month = e.ReceivedAt.UTC().Format("2006-01")
	}
	return fmt.Sprintf("%s/%06d-%s.eml", month, z.made, e.SHA256[:16])
}

func (z *zipWriter) add(e *Entry, raw []byte) error {
	name := z.name(e)
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: e.ReceivedAt})
	if err == nil {
		_, err = w.Write(raw)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(z.index).Encode(struct {
		File string `json:"file"`
		*Entry
	}{name, e})
}

func (z *zipWriter) close() error {
	defer os.Remove(z.index.Name())
	defer z.index.Close()
	_, err := z.index.Seek(0, io.SeekStart)
	w, createErr := z.zip.Create("index.jsonl")
	if err = cmp.Or(err, createErr); err == nil {
		_, err = io.Copy(w, z.index)
	}
	return errors.Join(err, z.zip.Close(), z.out.close())
}
