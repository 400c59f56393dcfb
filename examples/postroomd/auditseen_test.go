package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// An answer is what a person types, before which something else happens.
type answer struct {
	io.Reader
	meanwhile func()
}

func (a answer) Read(p []byte) (int, error) {
	a.meanwhile()
	return a.Reader.Read(p)
}

// TestAnAcceptanceThatCannotBeKeptIsAnError: the daemon would not know of it.
func TestAnAcceptanceThatCannotBeKeptIsAnError(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	seen := folder(m.where[slices.Index(m.where, "--data")+1]).seenFile()
	text, err := os.ReadFile(seen)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(seen, append(text, "1:999999:aa:bb .\n"...), 0o600))

	moved := seen + ".moved"
	var move sync.Once
	person := answer{strings.NewReader("y\n"), func() {
		move.Do(func() {
			require.NoError(t, os.Rename(seen, moved))
			require.NoError(t, os.Mkdir(seen, 0o700))
		})
	}}
	var out bytes.Buffer
	root := rootCommand(append([]string{"audit", "accept"}, m.where...))
	root.SetIn(person)
	root.SetOut(&out)
	require.ErrorContains(t, root.ExecuteContext(t.Context()), "no other program knows that the log is accepted")
	require.NotContains(t, out.String(), "the log is accepted")

	require.NoError(t, os.Remove(seen))
	require.NoError(t, os.Rename(moved, seen))
	require.Contains(t, m.postroomd("audit", "accept", "--yes").stdout, "the log is accepted")
	require.NotContains(t, m.postroomd("status").stdout, "the end of the log is gone")
}
