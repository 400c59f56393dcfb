package safety

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// A CheckpointFile is a [CheckpointStore] in a file. It belongs beside the data, where restoring the database does not put it
// back. Programs on one machine share it. Its first line is the head, which is overwritten; a line is added for each step.
type CheckpointFile string

var _ CheckpointStore = CheckpointFile("")

const (
	headSize = 256  // bytes of the first line, which is written at once
	lineEnd  = " ." // ends a line that is complete
)

// Load reads the file. A line that a program did not finish does not count.
func (f CheckpointFile) Load() (head string, steps []string, err error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, f.fault(err)
	}
	first := true
	for line := range bytes.Lines(text) {
		said, complete := strings.CutSuffix(strings.TrimRight(string(line), " \r\n"), lineEnd)
		switch {
		case first && complete:
			head = said
		case complete:
			steps = append(steps, said)
		}
		first = false
	}
	return head, steps, nil
}

// SetHead overwrites the first line.
func (f CheckpointFile) SetHead(head string) error {
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return f.fault(err)
	}
	_, err = file.WriteAt(headLine(head), 0)
	return f.fault(errors.Join(err, file.Close()))
}

func headLine(head string) []byte {
	return fmt.Appendf(nil, "%-*s\n", headSize-1, head+lineEnd)
}

// AddStep adds a line, after one that may not be complete.
func (f CheckpointFile) AddStep(step string) error {
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return f.fault(err)
	}
	info, err := file.Stat()
	line := "\n" + step + lineEnd + "\n"
	if err == nil && info.Size() == 0 {
		line = string(headLine("")) + line
	}
	if err == nil {
		_, err = file.WriteString(line)
	}
	return f.fault(errors.Join(err, file.Sync(), file.Close()))
}

func (f CheckpointFile) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s, which has how far the database has come, cannot be used: %w", string(f), err)
}
