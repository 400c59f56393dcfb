package gmailapi

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"google.golang.org/api/googleapi"
)

const (
	// Up to this size a message is sent in one request; a larger one in a resumable upload, whose session Gmail
	// completes once.
	uploadChunk = 4 << 20
	// The slowest upload that a call waits for, in bytes a second.
	uploadRate = 64 << 10
)

// media is a message as a request carries it, byte for byte.
func media(raw []byte) (*bytes.Reader, []googleapi.MediaOption) {
	return bytes.NewReader(raw), []googleapi.MediaOption{googleapi.ContentType("message/rfc822"),
		googleapi.ChunkSize(uploadChunk)}
}

// UploadTimeout is the timeout of a call that carries size bytes.
func (c *Client) UploadTimeout(size int) time.Duration {
	return c.timeout + time.Duration(size/uploadRate)*time.Second
}

// doUpload is do for a call that carries a message.
func (c *Client) doUpload(ctx context.Context, method Method, op string, raw []byte,
	call func(context.Context) error) error {
	if len(raw) == 0 {
		return &Error{Op: op, Class: ClassInvalid, Err: errors.New("the message is empty")}
	}
	slower := *c
	slower.timeout = c.UploadTimeout(len(raw))
	return slower.do(ctx, method, op, ClassNotFound, call)
}

// IsUnclear reports whether the call that failed with err may have taken effect all the same.
func IsUnclear(err error, size int) bool {
	var e *Error
	var dial *net.OpError
	switch {
	case err == nil:
		return false
	case !errors.As(err, &e):
		return true
	case e.Class == ClassRateLimited && e.Status == 0: // not asked
		return false
	// the last of several requests may have been repeated, and any error may be that of the repetition
	case size > uploadChunk:
		return true
	case e.Class == ClassReauthorize, e.Class == ClassNoAccess, e.Class == ClassUnauthorized:
		return false // there was no token, or it was refused before anything was done
	case errors.As(e.Err, &dial) && dial.Op == "dial":
		return false
	}
	return e.Class == ClassServer || e.Status < http.StatusBadRequest || e.Status >= http.StatusInternalServerError
}
