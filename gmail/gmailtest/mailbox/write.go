package mailbox

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"time"
)

// WriteMbox writes the messages of a source as an mbox (mboxrd). The From lines have the time of arrival. [OpenMbox]
// reads back the same bytes, except for a line end that is added after a message without one.
//
// It is for tests and demonstrations: labels, threads and flags that are not in the messages' own header are not
// written, and a message with a Problem is skipped.
func WriteMbox(w io.Writer, source Source) error {
	out := bufio.NewWriter(w)
	for msg, err := range source.Messages() {
		if err != nil {
			return fmt.Errorf("mailbox: write %s: %w", source.Name(), err)
		}
		if msg.Problem == "" {
			writeMessage(out, &msg)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("mailbox: write %s: %w", source.Name(), err)
	}
	return nil
}

// writeMessage ignores errors: Flush returns the first.
func writeMessage(out *bufio.Writer, msg *Message) {
	_, _ = fmt.Fprintf(out, "From MAILER-DAEMON %s\n", msg.Received.UTC().Format(time.ANSIC))
	for line := range bytes.Lines(msg.Raw) {
		if bytes.HasPrefix(bytes.TrimLeft(line, ">"), fromPrefix) {
			_ = out.WriteByte('>')
		}
		_, _ = out.Write(line)
	}
	if len(msg.Raw) > 0 && !bytes.HasSuffix(msg.Raw, []byte("\n")) {
		_ = out.WriteByte('\n')
	}
	_ = out.WriteByte('\n')
}
