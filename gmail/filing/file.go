package filing

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/mime"
)

// A File is attached to a message.
type File struct {
	Name    string // as the sender gave it; empty if it has none
	Content []byte
	// Picture reports that the HTML of the message shows it, such as the logo of a signature.
	Picture bool
	// Unread reports that the bytes are not those that were attached, because they could not be decoded or were not read
	// because of a limit. It is never filed.
	Unread bool
}

// FilesOf returns the files of a message, in order. Apple Mail sends them inline: what has a name is one all the same,
// also a calendar. Signatures and reports are none.
func FilesOf(m *mime.Message) (files []File) {
	for _, part := range m.Attachments {
		kind := part.Kind()
		shown := kind == mime.KindPicture || shows(m.HTML, part)
		unread := kind == mime.KindUnread
		isFile := kind == mime.KindFile || unread || kind == mime.KindCalendar && part.Filename != ""
		if !isFile && !shown || !shown && part.Filename == "" && part.Disposition == "inline" {
			continue
		}
		name := part.Filename
		if name == "" && part.Message != nil {
			name = "message.eml"
		}
		files = append(files, File{Name: name, Content: part.Content, Picture: shown, Unread: unread})
	}
	return files
}

// shows reports whether a HTML shows a part by its Content-ID. Some programs call such a picture an attachment.
func shows(html string, part *mime.Part) bool {
	if part.ContentID == "" || !strings.HasPrefix(part.ContentType, "image/") {
		return false
	}
	found, err := regexp.MatchString(`(?i:cid:)`+regexp.QuoteMeta(part.ContentID)+`([^A-Za-z0-9.@_-]|$)`, html)
	return err == nil && found
}

// ending are the endings that files keep.
var ending = regexp.MustCompile(`^\.[A-Za-z0-9]{1,16}$`)

// split returns the name of a file without its ending, and the ending.
func split(name string) (base, end string) {
	name = strings.TrimSpace(safefolder.Visible(name))
	if end = path.Ext(name); !ending.MatchString(end) {
		end = ""
	}
	if base = safefolder.CleanName(name[:len(name)-len(end)]); base == "" {
		base = "file"
	}
	return base, end
}

// A selection is what the parameters of an action ask for.
type selection struct {
	names    []string // patterns, in lower case
	minBytes int
	pictures bool
}

func selectionOf(p postroom.Parameters) (s selection, err error) {
	names, _ := p.Texts(paramNames)
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, err := path.Match(name, ""); err != nil {
			return s, fmt.Errorf("%s has the pattern %q, which is none: * stands for any characters, ? for one, [a-z] for one of "+
				"those, and \\ before one of these for itself", paramNames, name)
		}
		s.names = append(s.names, name)
	}
	kilobytes, _ := p.Integer(paramMinKB)
	s.minBytes = int(kilobytes) << 10
	s.pictures, _ = p[paramPictures].(bool)
	return s, nil
}

// wants reports whether a file is selected.
func (s selection) wants(f File) bool {
	if f.Picture && !s.pictures || len(f.Content) < s.minBytes {
		return false
	}
	name := strings.ToLower(strings.ReplaceAll(safefolder.Visible(f.Name), "/", " "))
	for _, pattern := range s.names {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return len(s.names) == 0
}
