package printer

import (
	"fmt"
	"io"
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// Message prints a message with untrusted text. It marks the lines, so that none looks like a line of this program.
func Message(out io.Writer, m *mime.Message) error {
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	f := NewFields(out)
	for _, field := range m.Header {
		f.Add(field.Name+":", field.Value)
	}
	for _, file := range m.Attachments {
		f.Add("attachment", fmt.Sprintf("%s (%s, %s)", file.Filename, file.ContentType,
			Count(len(file.Content), "byte", "bytes")))
	}
	if err := f.Flush(); err != nil {
		return err
	}
	if m.Text != "" {
		if err := printMarked(out, "", m.Text); err != nil {
			return err
		}
	}
	if m.HTML == "" {
		return nil
	}
	shown := htmltext.ReadBody("", m.HTML)
	return printMarked(out, "The HTML shows"+Unless(len(shown.Hidden) == 0 && !shown.Incomplete,
		", and hides more, which --raw prints")+":\n", shown.Text)
}

func printMarked(out io.Writer, title, text string) error {
	var b strings.Builder
	b.WriteString("\n" + title)
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("| "+Printable(strings.TrimRight(line, "\r\n")), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
