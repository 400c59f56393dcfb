package config

import (
	"path/filepath"
	"strings"
)

// MailboxFiles are files of single mailboxes, as address=path in the configuration.
type MailboxFiles []MailboxFile

// A MailboxFile is the file of one mailbox.
type MailboxFile struct {
	Address string
	Path    Path
}

// Of returns the path of the mailbox's file; empty if it has none.
func (m MailboxFiles) Of(address string) Path {
	for _, f := range m {
		if strings.EqualFold(f.Address, address) {
			return f.Path
		}
	}
	return ""
}

// Readers returns the mailboxes whose file is at path.
func (m MailboxFiles) Readers(path string) (addresses []string) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	for _, f := range m {
		if string(f.Path) == full {
			addresses = append(addresses, f.Address)
		}
	}
	return addresses
}

func (m MailboxFiles) entries() []string {
	list := make([]string, len(m))
	for i, f := range m {
		list[i] = f.Address + "=" + string(f.Path)
	}
	return list
}

// setMailboxFiles reads a list of texts such as "ada@example.org=ada.yaml".
func setMailboxFiles(r raw, field *MailboxFiles) error {
	var list []string
	if err := setList(r, &list); err != nil {
		return err
	}
	files, seen := MailboxFiles{}, map[string]bool{}
	for _, entry := range list {
		address, path, _ := strings.Cut(entry, "=")
		full, err := expand(path, r.folder)
		if err != nil {
			return err
		}
		if address == "" || mailAddress(address) != "" || path == "" || seen[strings.ToLower(address)] {
			return wanted("an address and a path for each mailbox, and each mailbox once")
		}
		seen[strings.ToLower(address)] = true
		files = append(files, MailboxFile{address, Path(full)})
	}
	*field = files
	return nil
}
