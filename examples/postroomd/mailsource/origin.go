package mailsource

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// Flags are the flags that name a mailbox; at most one is set.
type Flags struct{ Mbox, Maildir, EML string }

// A Source is the source of the demo's mail. The folder remembers it, so that a second run without flags uses the
// same mailbox, and an interrupted load continues.
type Source struct {
	kind string // sample, mbox, maildir or eml
	path string // absolute; empty for the sample

	Remembered bool
}

// Choose returns the mailbox of the flags, or that of the folder, or the sample. A named mailbox must be valid.
func (m Flags) Choose(f environment.Folder) (*Source, error) {
	named, err := m.Named()
	if err != nil {
		return nil, err
	}
	earlier, err := rememberedOrigin(f)
	if err != nil {
		return nil, err
	}
	switch {
	case named == nil && earlier == nil:
		return &Source{kind: "sample"}, nil
	case named == nil:
		return earlier, nil
	case earlier != nil && *earlier != (Source{named.kind, named.path, true}):
		return nil, usage.Errorf("--data %s already holds a copy of %s; name another folder for %s", string(f),
			earlier, named)
	}
	if _, err := named.Open(); err != nil {
		return nil, usage.Errorf("--%s takes %s. %w", named.kind, Wanted[named.kind], err)
	}
	return named, nil
}

// Named returns the source that a flag names; nil if none does. Several are a usage error.
func (m Flags) Named() (*Source, error) {
	var named []*Source
	for kind, path := range map[string]string{"mbox": m.Mbox, "maildir": m.Maildir, "eml": m.EML} {
		if path == "" {
			continue
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		named = append(named, &Source{kind: kind, path: absolute})
	}
	switch len(named) {
	case 0:
		return nil, nil
	case 1:
		return named[0], nil
	}
	return nil, usage.Errorf("--mbox, --maildir and --eml each name a mailbox; one run takes one")
}

// Wanted describes the value of each flag.
var Wanted = map[string]string{
	"mbox":    "an mbox file, such as Google Takeout and Thunderbird make: its first line begins with \"From \"",
	"maildir": "a Maildir: a folder that holds the folders cur and new",
	"eml":     "a folder with .eml files, one message each",
}

// IsSample reports whether it is the sample mailbox.
func (o *Source) IsSample() bool { return o.kind == "sample" }

func (o *Source) String() string {
	if o.path == "" {
		return "the sample mailbox"
	}
	return "the " + o.kind + " " + o.path
}

// Open opens the source for reading.
func (o *Source) Open() (mailbox.Source, error) {
	switch o.kind {
	case "sample":
		return sample.Mailbox(), nil
	case "mbox":
		return mailbox.OpenMbox(o.path)
	case "maildir":
		return mailbox.OpenMaildir(o.path)
	case "eml":
		return mailbox.OpenEML(o.path)
	}
	return nil, fmt.Errorf("unknown kind of mailbox %q", o.kind)
}

func originFile(f environment.Folder) string { return filepath.Join(string(f), "mailbox") }

// Source reads the file of remember; nil on the first run.
func rememberedOrigin(f environment.Folder) (*Source, error) {
	if f == "" {
		return nil, nil
	}
	text, err := os.ReadFile(originFile(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind, path, _ := strings.Cut(string(text), "\n")
	return &Source{kind: kind, path: path, Remembered: true}, nil
}

// Remember writes the origin atomically.
func (o *Source) Remember(f environment.Folder) error {
	if o.Remembered {
		return nil
	}
	draft := originFile(f) + ".new"
	if err := os.WriteFile(draft, []byte(o.kind+"\n"+o.path), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, originFile(f))
}
