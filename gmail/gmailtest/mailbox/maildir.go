package mailbox

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OpenMaildir opens a maildir: the messages in its cur and new folders, sorted by file name without flags, so that a
// message keeps its position when it is read or flagged. Folders within it (Maildir++) are separate mailboxes and are
// not read. The maildir's identity ([Source].Name) is its absolute path.
//
// Its error is an [*OpenError].
func OpenMaildir(dir string) (Source, error) {
	name, err := statFolder(dir, "maildir:")
	if err != nil {
		return nil, err
	}
	box := &folder{name: name}
	found := false
	for _, sub := range []string{"cur", "new"} {
		files, err := os.ReadDir(filepath.Join(dir, sub))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, accessError(filepath.Join(dir, sub), err)
		}
		found = true
		box.addMaildir(filepath.Join(dir, sub), files)
	}
	if !found {
		return nil, notMailbox(dir, "has neither a folder cur nor a folder new", "a maildir has both")
	}
	slices.SortFunc(box.entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return box, nil
}

// statFolder checks a folder and returns its identity.
func statFolder(dir, kind string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", accessError(dir, err)
	}
	if !info.IsDir() {
		return "", notMailbox(dir, "is a file and not a folder", "name a file as an mbox")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &OpenError{Path: dir, What: "has no absolute path: " + err.Error(), Err: err}
	}
	return kind + abs, nil
}

func (f *folder) addMaildir(dir string, files []fs.DirEntry) {
	for _, file := range files {
		if file.IsDir() || strings.HasPrefix(file.Name(), ".") {
			continue
		}
		name, flags := maildirName(file.Name())
		f.entries = append(f.entries, entry{
			name:     name,
			path:     filepath.Join(dir, file.Name()),
			flags:    flags,
			received: maildirTime(name),
		})
	}
}

// maildirName splits a file name into the message's permanent name and its flags.
//
// QUIRK: the flags follow ":2,"; if a file system forbids the colon, programs write ";", "!" or "-" in its place.
func maildirName(file string) (string, Flags) {
	at := strings.LastIndex(file, "2,")
	if at < 1 || !strings.ContainsRune(":;!-", rune(file[at-1])) {
		return file, Flags{}
	}
	var flags Flags
	for _, c := range file[at+len("2,"):] {
		switch c {
		case 'S':
			flags.Seen = true
		case 'R':
			flags.Answered = true
		case 'F':
			flags.Flagged = true
		case 'D':
			flags.Draft = true
		case 'T':
			flags.Trashed = true
		}
	}
	return file[:at-1], flags
}

// maildirTime returns the time in seconds with which a delivered file's name begins.
func maildirTime(name string) time.Time {
	digits, _, _ := strings.Cut(name, ".")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seconds <= 0 || seconds > 1<<34 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
