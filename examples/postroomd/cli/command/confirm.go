package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// A Question must be answered with yes before a command continues. The command has a flag --yes.
type Question struct {
	Text    string
	Instead string // What else to write where nobody can be asked; may be empty
	Refused string // What a no amounts to
}

// Confirm asks the question on a terminal.
func Confirm(in io.Reader, out io.Writer, q Question) error {
	if file, ok := in.(*os.File); ok && !term.IsTerminal(int(file.Fd())) {
		return usage.Errorf("nobody can be asked here; add --yes to go on%s", q.Instead)
	}
	if _, err := fmt.Fprintf(out, "%s [y/N] ", q.Text); err != nil {
		return err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return usage.Errorf("%s", q.Refused)
	}
	return nil
}
