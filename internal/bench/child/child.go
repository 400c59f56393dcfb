// Package child runs this program again, as a process of its own, which gets a task and answers with lines of output.
package child

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
)

// Arg is the first argument of a child; its task and the arguments of that follow.
const Arg = "child"

// Command returns the command for a child of this program, which reports errors as its parent does.
func Command(ctx context.Context, task string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := command(ctx, self, task, args...)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

func command(ctx context.Context, path, task string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, path, append([]string{Arg, task}, args...)...) //nolint:gosec // itself
}

// Answer sends a line to the process that started this one.
func Answer(answer any) error {
	_, err := fmt.Fprintln(os.Stdout, answer)
	return err
}

// Encode encodes a message between processes of this program, on a command line or a line of output.
func Encode(v any) (string, error) {
	var buffer bytes.Buffer
	err := gob.NewEncoder(&buffer).Encode(v)
	return base64.StdEncoding.EncodeToString(buffer.Bytes()), err
}

// Decode decodes the result of Encode.
func Decode(text string, v any) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}
