package gmailtest

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

// always are the fields that Gmail sends even if they are empty.
var always = []string{"PartId", "Filename", "Body"}

// payload returns the tree of parts of format full. The parts of a part are numbered from 0, separated by dots.
func payload(p *rawmail.Part, id string) *gmail.MessagePart {
	part := &gmail.MessagePart{
		PartId: id, MimeType: p.Type, Filename: p.Filename(), Headers: headers(p.Header, nil),
		Body: &gmail.MessagePartBody{ForceSendFields: []string{"Size"}}, ForceSendFields: always,
	}
	if len(p.Parts) == 0 {
		content := bodyOf(p)
		part.Body.Size = int64(len(content))
		if isInline(p) {
			part.Body.Data = base64.URLEncoding.EncodeToString(content)
		} else {
			part.Body.AttachmentId = attachmentID(id)
		}
	}
	for i, child := range p.Parts {
		part.Parts = append(part.Parts, payload(child, childID(id, i)))
	}
	return part
}

// isInline reports whether the content of a part stands in the payload. Text that is not a file does; everything else is fetched
// by its id.
func isInline(p *rawmail.Part) bool {
	return p.Filename() == "" && (strings.HasPrefix(p.Type, "text/") || strings.HasPrefix(p.Type, "multipart/"))
}

// bodyOf returns the decoded content of a part. Text in the payload is converted to UTF-8, although its Content-Type still names
// the original charset. A file is unchanged.
func bodyOf(p *rawmail.Part) []byte {
	if isInline(p) && strings.HasPrefix(p.Type, "text/") {
		return []byte(p.Text())
	}
	return p.Content()
}

func childID(id string, index int) string {
	return strings.TrimPrefix(id+"."+strconv.Itoa(index), ".")
}

// metadata returns the header of a message, or the named fields of it.
func metadata(p *rawmail.Part, only []string) *gmail.MessagePart {
	return &gmail.MessagePart{MimeType: p.Type, Headers: headers(p.Header, only)}
}

// headers returns the fields with their encoded words decoded.
func headers(header rawmail.Header, only []string) []*gmail.MessagePartHeader {
	var fields []*gmail.MessagePartHeader
	for _, f := range header {
		wanted := len(only) == 0 || slices.ContainsFunc(only, func(name string) bool { return strings.EqualFold(name, f.Name) })
		if wanted {
			fields = append(fields, &gmail.MessagePartHeader{
				Name: f.Name, Value: rawmail.DecodeText(f.Value), ForceSendFields: []string{"Value"},
			})
		}
	}
	return fields
}

// attachmentID returns the id of a part for attachments.get. It does not include the message, whose id is passed as well.
func attachmentID(partID string) string {
	return "ANGj" + base64.RawURLEncoding.EncodeToString([]byte("part "+partID))
}

func findAttachment(root *rawmail.Part, attachment string) *rawmail.Part {
	var find func(p *rawmail.Part, id string) *rawmail.Part
	find = func(p *rawmail.Part, id string) *rawmail.Part {
		if len(p.Parts) == 0 && attachmentID(id) == attachment {
			return p
		}
		for i, child := range p.Parts {
			if found := find(child, childID(id, i)); found != nil {
				return found
			}
		}
		return nil
	}
	return find(root, "")
}
