package gmailtest

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// The size in bytes of each chunk, except the last, must be a multiple of chunkUnit.
const chunkUnit = 256 << 10

// An uploadSession is a resumable upload that has begun. Sessions are in memory: they end with the server.
type uploadSession struct {
	account *Account
	match   match
	query   string // of the request that began it

	mu sync.Mutex // held by the request that continues the upload
	upload
	done *wire.Reply // to the whole upload, for clients that lost it and ask again
}

// finish stores the reply to the whole upload and drops its bytes.
func (u *uploadSession) finish(answer wire.Reply) { u.upload, u.done = upload{}, &answer }

type uploadSessions struct {
	mu   sync.Mutex
	open map[string]*uploadSession
}

// begin keeps a session and returns its id.
func (u *uploadSessions) begin(session *uploadSession) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open == nil {
		u.open = map[string]*uploadSession{}
	}
	id := rand.Text()
	u.open[id] = session
	return id
}

func (u *uploadSessions) find(id string) *uploadSession {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open[id]
}

// prepares reports whether the request only prepares an upload, so that the method is not called yet.
func (s *Server) prepares(m match, r *http.Request) bool {
	switch {
	case m.session != nil:
		c, ok := wire.ParseContentRange(r.Header.Get("Content-Range"), r.ContentLength)
		m.session.mu.Lock()
		defer m.session.mu.Unlock()
		return m.session.done == nil && (!ok || !c.IsLast(int64(len(m.session.media))))
	default:
		return m.isUpload && r.URL.Query().Get("uploadType") == "resumable"
	}
}

// beginUpload answers the first request of a resumable upload with the address for its bytes.
func (s *Server) beginUpload(r *request) (any, error) {
	metadata, err := r.readAll(r.Body, maxRequest)
	if err != nil {
		return nil, err
	}
	if err := checkMediaType(r.Header.Get("X-Upload-Content-Type")); err != nil {
		return nil, err
	}
	session := &uploadSession{account: r.account, match: r.match, query: r.URL.RawQuery}
	session.metadata = metadata
	if length := r.Header.Get("X-Upload-Content-Length"); length != "" {
		total, err := strconv.ParseInt(length, 10, 64)
		if err != nil || total < 0 {
			return nil, wire.InvalidArgument("Invalid X-Upload-Content-Length: %q", length)
		}
		if total > r.upload {
			return nil, wire.TooLarge()
		}
	}
	id := s.uploads.begin(session)
	started := wire.NewReply(http.StatusOK, "", nil)
	started.Header.Set("X-Guploader-Uploadid", id)
	started.Header.Set("Location", strings.TrimSuffix(s.url, "/")+r.URL.Path+"?uploadType=resumable&upload_id="+id)
	return started, nil
}

// resume adds the next bytes to an upload, whose lock the caller must hold. It reports whether the upload is complete.
func (s *Server) resume(r *request) (whole bool, err error) {
	c, ok := wire.ParseContentRange(r.Header.Get("Content-Range"), r.ContentLength)
	if !ok {
		return false, wire.InvalidArgument("Invalid Content-Range: %q", r.Header.Get("Content-Range"))
	}
	if max(c.End, c.Total) > r.session.match.upload {
		return false, wire.TooLarge()
	}
	// The bytes of a broken request count, so its error can wait.
	content, broken := io.ReadAll(io.LimitReader(r.Body, c.End-c.First))
	have := int64(len(r.session.media))
	switch {
	case c.IsQuery:
		return c.IsLast(have), nil
	case c.First > have:
		return false, wire.InvalidArgument(
			"Invalid request. There are %d byte(s) of the upload, and the chunk begins at %d.", have, c.First)
	case !c.IsLast(have) && (c.End-c.First)%chunkUnit != 0:
		return false, wire.InvalidArgument("Invalid request. The number of bytes in a chunk must be a multiple of %d.",
			chunkUnit)
	}
	r.session.media = append(r.session.media[:c.First], content...)
	if broken == nil && int64(len(content)) < c.End-c.First {
		broken = wire.InvalidArgument("Invalid request. The chunk has %d bytes and not %d.", len(content), c.End-c.First)
	}
	return broken == nil && c.IsLast(c.End), broken
}

// incomplete reports how many bytes of an upload the server has.
func (u *uploadSession) incomplete(r *http.Request) wire.Reply {
	p := wire.NewReply(http.StatusPermanentRedirect, "", nil)
	if len(u.media) > 0 {
		p.Header.Set("Range", fmt.Sprintf("bytes=0-%d", len(u.media)-1))
	}
	if strings.EqualFold(r.Header.Get("X-Guploader-No-308"), "yes") {
		p.Status = http.StatusOK
		p.Header.Set("X-Http-Status-Code-Override", "308")
	}
	return p
}
