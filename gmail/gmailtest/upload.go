package gmailtest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// An upload is the body of a request under /upload: a raw message and its JSON.
type upload struct {
	metadata []byte // empty: none
	media    []byte
}

// uploadType returns the kind of upload: media, multipart or resumable. Without the parameter it depends on the
// content.
func (r *request) uploadType() string {
	if wish := r.query.Get("uploadType"); wish != "" {
		return wish
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return "multipart"
	}
	return "media"
}

// readUpload sets the upload as the body of the request. A non-nil reply means that the upload is incomplete.
func (s *Server) readUpload(r *request) (answer any, err error) {
	var u *upload
	switch {
	case r.session != nil && r.session.done != nil:
		return *r.session.done, nil
	case r.session != nil:
		whole, err := s.resume(r)
		if err != nil {
			return nil, err
		}
		if !whole {
			return r.session.incomplete(r.Request), nil
		}
		u = &r.session.upload
	case r.uploadType() == "resumable":
		return s.beginUpload(r)
	default:
		if u, err = r.receive(); err != nil {
			return nil, err
		}
	}
	r.media = append([]byte{}, u.media...)
	r.Body = io.NopCloser(bytes.NewReader(u.metadata))
	return nil, nil
}

// receive reads an upload in one request.
func (r *request) receive() (*upload, error) {
	switch wish := r.uploadType(); wish {
	case "media":
		media, err := r.readAll(r.Body, r.upload)
		if err == nil {
			err = checkMediaType(r.Header.Get("Content-Type"))
		}
		return &upload{media: media}, err
	case "multipart":
		return r.receiveMultipart()
	default:
		return nil, wire.InvalidArgument("Invalid value at 'uploadType': %q", wish)
	}
}

// receiveMultipart reads multipart/related (RFC 2387): a part of JSON, then the message.
func (r *request) receiveMultipart() (*upload, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, wire.BadContent("Missing multipart boundary")
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	metadata, _, err := r.readPart(parts)
	if err != nil {
		return nil, err
	}
	media, contentType, err := r.readPart(parts)
	if err != nil {
		return nil, err
	}
	return &upload{metadata: metadata, media: media}, checkMediaType(contentType)
}

func (r *request) readPart(parts *multipart.Reader) (content []byte, contentType string, err error) {
	part, err := parts.NextRawPart()
	if err != nil {
		return nil, "", wire.BadContent("Missing end boundary in multipart body.")
	}
	content, err = r.readAll(part, r.upload)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = wire.BadContent("Missing end boundary in multipart body.")
	}
	return content, part.Header.Get("Content-Type"), err
}

// checkMediaType refuses other types than a message. Clients that do not set a type send text/plain.
func checkMediaType(contentType string) error {
	if mediaType, _, err := mime.ParseMediaType(contentType); err == nil && strings.HasPrefix(mediaType, "message/") {
		return nil
	}
	return wire.BadContent("Media type '" + contentType + "' is not supported. Valid media types: [message/*]")
}

// readAll reads to the end, or refuses a body above the limit.
func (r *request) readAll(from io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	if int64(len(content)) > limit {
		return nil, wire.TooLarge()
	}
	return content, err
}
