package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// A File is a [Store] in a file. It belongs beside the data, where restoring the database does not put it back.
// Programs on one machine share it. It has one line for the head and one for the step, which are overwritten.
type File string

const (
	lineSize = 256
	lineEnd  = " ." // ends what a program has written to its end
)

// Load reads the file.
func (f File) Load() (head, step string, err error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if len(text) > lineSize {
		step = textOf(text[lineSize:])
	}
	return textOf(text[:min(len(text), lineSize)]), step, err
}

// textOf returns the text of the first line; empty if it was not written to its end.
func textOf(lines []byte) string {
	line, _, _ := strings.Cut(string(lines), "\n")
	if text, finished := strings.CutSuffix(strings.TrimRight(line, " "), lineEnd); finished {
		return text
	}
	return ""
}

// SetHead overwrites the first line.
func (f File) SetHead(head string) error { return f.write(head, 0) }

// SetStep overwrites the second line.
func (f File) SetStep(step string) error { return f.write(step, lineSize) }

func (f File) write(text string, at int64) error {
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "%*s\n", 1-lineSize, text+lineEnd), at)
	return errors.Join(err, file.Sync(), file.Close())
}
