package cmdline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

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
	if !isYes(line) {
		return usage.Errorf("%s", q.Refused)
	}
	return nil
}

// CanAsk reports whether a question can be asked in passing: a person reads out, and answers at in.
func CanAsk(in io.Reader, out io.Writer) bool {
	from, ok := in.(*os.File)
	if !ok {
		return true
	}
	to, ok := out.(*os.File)
	return ok && term.IsTerminal(int(from.Fd())) && term.IsTerminal(int(to.Fd()))
}

// Ask asks a question in passing, and reports whether a person has answered within the time, and said yes. The error is
// that of ctx, or that the question could not be written. After a question that nobody has answered, the next line of
// in is lost.
func Ask(ctx context.Context, in *bufio.Reader, out io.Writer, text string,
	within time.Duration) (yes, answered bool, err error) {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", text); err != nil {
		return false, false, err
	}
	lines := make(chan string, 1)
	go func() { // ends with the program if nobody answers
		line, _ := in.ReadString('\n')
		lines <- line
	}()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return false, false, ctx.Err()
	case <-late.C:
		_, err = fmt.Fprintln(out)
		return false, false, err
	case line := <-lines:
		return isYes(line), line != "", nil
	}
}

func isYes(line string) bool {
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
