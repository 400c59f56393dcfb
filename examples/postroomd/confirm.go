package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"golang.org/x/term"
)

// A question must be answered with yes before a command continues. The command has a flag --yes.
type question struct {
	text    string
	instead string // what else to write where nobody can be asked; may be empty
	refused string // what a no amounts to
}

// confirm asks the question on a terminal.
func confirm(in io.Reader, out io.Writer, q question) error {
	if file, ok := in.(*os.File); ok && !term.IsTerminal(int(file.Fd())) {
		return usage.Errorf("nobody can be asked here; add --yes to go on%s", q.instead)
	}
	if _, err := fmt.Fprintf(out, "%s [y/N] ", q.text); err != nil {
		return err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return usage.Errorf("%s", q.refused)
	}
	return nil
}
