package gmailtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/faults"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
	"github.com/postroom-go/postroom/gmail/gmailtest/pubsub"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// DefaultEmail is the default of Config.Email.
const DefaultEmail = "you@example.com"

// stateFile is the database in Config.Dir.
const stateFile = "gmailtest.db"

// Config configures a [Server]. The zero Config opens an empty mailbox in memory.
type Config struct {
	// Dir is the folder of the mailbox; it is created if missing. Default empty: the mailbox is in memory.
	Dir string

	// Email is the owner's address, set when the mailbox is created. Default: [DefaultEmail], or the address of the
	// mailbox in Dir.
	Email string

	// Control enables requests under /gmailtest/, with which programs in other languages control the server like this
	// package does in Go: faults, the log of calls, people, grants. Anyone who can reach the server may use them.
	// Default false.
	Control bool

	// Listen is the TCP address to listen on. Default 127.0.0.1:0, a free port of the loopback interface. On a loopback
	// address a request by another host name is refused with 421: a web page may give itself such a name.
	Listen string

	// Token is the only access token that is accepted, as the owner's. Nobody can sign in, and the log of calls and the
	// faults are the caller's alone: Control and OAuth must be zero. It is for mail that other users of the machine
	// must not read. Default empty: OAuth says which tokens are accepted.
	Token string

	// Quota limits the calls of each mailbox. Default: no limits.
	Quota Quota

	// OAuth configures the access of programs. The zero OAuth accepts any token that does not look like one of Google's.
	OAuth OAuth

	// Publish publishes a notification to a topic, like Gmail's Pub/Sub. If it returns an error, the notification is
	// published again. Default nil: notifications go only to the targets of [Server.PushTo].
	Publish func(ctx context.Context, topic string, data []byte) error

	// Now returns the time; see [Clock]. Default: [time.Now].
	Now func() time.Time
}

// A Server is a running fake Gmail: the mailbox of its owner, and those of more accounts ([Server.Account]). It is
// safe for concurrent use. Several servers, even of several processes, may share one Dir.
type Server struct {
	db    *sqlite.DB
	now   func() time.Time
	clock *shiftedClock // whose Now is now
	owner *Account
	url   string
	token string // Config.Token
	http  *http.Server

	faults  faults.Script
	quota   quota
	calls   callLog
	oauth   *oauth.Server
	uploads uploadSessions

	publisher *pubsub.Publisher
	control   http.Handler // nil: not answered

	serving sync.WaitGroup // the accept loop and the calls under way
	mu      sync.Mutex
	closed  bool
}

// Open starts a server on a free loopback port.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	clock := &shiftedClock{base: cfg.Now}
	if cfg.Now == nil {
		clock.base = time.Now
	}
	cfg.Now = clock.Now
	if err := errors.Join(cfg.Quota.complete(), cfg.checkToken()); err != nil {
		return nil, err
	}
	if cfg.Email != "" {
		if err := checkEmail(cfg.Email); err != nil {
			return nil, fmt.Errorf("gmailtest: Config.Email: %w", err)
		}
	}
	db, err := openState(ctx, cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("gmailtest: %w", err)
	}
	s := &Server{db: db, now: cfg.Now, clock: clock, token: cfg.Token, quota: quota{Quota: cfg.Quota, now: cfg.Now}}
	if s.oauth, err = oauth.New(db, cfg.Now, cfg.OAuth); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := s.prepare(ctx, cfg.Email); err != nil {
		return nil, errors.Join(fmt.Errorf("gmailtest: %w", err), db.Close())
	}
	s.publisher = pubsub.New(pubsub.Config{Now: s.now, Pending: s.takeNotifications, SignIdentity: s.oauth.SignIdentity,
		Publish: cfg.Publish})
	if cfg.Control {
		s.control = s.controls()
	}
	if err := s.listen(cmp.Or(cfg.Listen, "127.0.0.1:0")); err != nil {
		return nil, errors.Join(fmt.Errorf("gmailtest: %w", err), db.Close())
	}
	return s, nil
}

func openState(ctx context.Context, dir string) (*sqlite.DB, error) {
	if dir == "" {
		return sqlite.OpenMemory(ctx)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// Acknowledged changes must survive the death of this process, but need not survive a power failure.
	return sqlite.Open(ctx, filepath.Join(dir, stateFile), &sqlite.Config{Durability: sqlite.Normal})
}

// TB is the part of *testing.T that [NewServer] needs. This package does not import testing, which would be linked into
// programs.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// NewServer starts an empty server in memory and closes it when the test ends.
func NewServer(t TB) *Server {
	t.Helper()
	s, err := Open(t.Context(), Config{})
	if err != nil {
		t.Fatalf("gmailtest.NewServer: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Fatalf("gmailtest: close: %v", err)
		}
	})
	return s
}

// URL returns the endpoint, for option.WithEndpoint.
func (s *Server) URL() string { return s.url }

// Close ends the active calls and closes the mailbox.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.publisher.Stop()
	err := s.http.Close()
	s.serving.Wait()
	return errors.Join(err, s.db.Close())
}

func (s *Server) listen(address string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	s.url = "http://" + listener.Addr().String() + "/"
	s.oauth.ListenAt(s.url)
	s.http = &http.Server{Handler: byOwnName(s.serve, listener.Addr()), ReadHeaderTimeout: 10 * time.Second}
	s.serving.Go(func() { _ = s.http.Serve(listener) })
	s.publisher.Start()
	s.publisher.Wake()
	return nil
}

// enter counts an active call, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}

// serve answers one request, or the requests of a batch.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		panic(http.ErrAbortHandler) // closes the connection
	}
	defer s.serving.Done()
	if s.control != nil && strings.HasPrefix(r.URL.Path, controlPath) {
		s.control.ServeHTTP(w, r)
		return
	}
	if s.token == "" && s.serveOAuth(w, r) {
		return
	}
	answer, body := s.call, r.Body
	if isBatch(r) {
		answer = s.batch
	}
	p, cut := answer(r)
	if cut {
		panic(http.ErrAbortHandler)
	}
	// If a connection is closed with unread bytes, the client loses the response.
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxRequest))
	p.Send(w, r)
}

// call answers one call, subject to faults. cut means that the caller gets no response.
func (s *Server) call(r *http.Request) (p wire.Reply, cut bool) {
	call := Call{Verb: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, At: s.now()}
	body := &heard{ReadCloser: r.Body}
	r.Body = body
	defer func() {
		call.Status, call.Cut, call.Body = p.Status, cut || p.Truncated, string(body.beginning)
		s.calls.add(call)
		s.publisher.Wake()
	}()
	found, ok := s.route(r)
	if !ok {
		return noRoute(r), false
	}
	if !s.prepares(found, r) {
		call.Method = found.id
	}
	req := &request{Request: r, match: found}
	who, refused := s.admit(req)
	if who != nil {
		call.Account = who.account.email
		defer s.quota.leave(who.account)
	}
	fault := s.faults.Due(call.Method, call.Path, call.Account)
	if !hold(r, fault) || fault.Cut == CutBefore {
		return wire.Reply{}, true
	}
	if req.session != nil {
		readAhead(r)
		req.session.mu.Lock()
		defer req.session.mu.Unlock()
	}
	answer, err := any(nil), refused
	if err == nil {
		answer, err = s.answer(req, who, &call, fault)
	}
	p = wire.ReplyTo(r.URL.Query(), req.mask, answer, err)
	if fault.Body != "" && err != nil {
		p.Body = []byte(fault.Body)
		p.Header.Del("Content-Type")
	}
	p.Truncated = fault.Truncate
	if req.session != nil && call.Method != "" && err == nil {
		req.session.finish(p)
	}
	return p, fault.Cut == CutAfter
}

// answer carries out a valid call.
func (s *Server) answer(r *request, who *credential, call *Call, fault Fault) (answer any, err error) {
	if fault.Status != 0 {
		return nil, faultError(fault, s.now())
	}
	if r.handle == nil {
		return nil, notImplemented(r.id)
	}
	if err := r.readQuery(); err != nil {
		return nil, err
	}
	if err := who.check(r); err != nil {
		return nil, err
	}
	if r.isUpload {
		if answer, err = s.readUpload(r); err != nil || answer != nil {
			return answer, err
		}
	}
	if call.Units, err = s.quota.spend(r.account, r.id); err != nil {
		return nil, err
	}
	return r.handle(s, r.Context(), r)
}

// admit authenticates the caller, refuses calls without permission, and counts the call. The address of an upload is
// a secret that identifies its account.
func (s *Server) admit(r *request) (*credential, error) {
	found := &credential{}
	var err error
	if r.session != nil {
		found.account = r.session.account
	} else if found, err = s.authenticate(r.Request); err != nil {
		return nil, err
	}
	r.account = found.account
	if r.session == nil {
		err = r.account.mayBe(r.param("userId"))
	}
	return found, errors.Join(err, s.quota.enter(r.account))
}

// isBatch reports whether the request is a batch of calls.
func isBatch(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/batch" || strings.HasPrefix(r.URL.Path, "/batch/gmail/"))
}

// batch answers a batch: each call separately, as if it had come alone, in their order. Only a malformed batch is
// answered as a whole.
func (s *Server) batch(r *http.Request) (p wire.Reply, cut bool) {
	calls, err := wire.ReadBatch(r, maxRequest)
	if err != nil {
		return wire.AsError(err).Reply(r.URL.Query()), false
	}
	var body bytes.Buffer
	truncated := false
	parts := multipart.NewWriter(&body)
	for _, call := range calls {
		answer, cut := s.call(call.Request)
		if cut {
			return wire.Reply{}, true
		}
		truncated = truncated || answer.Truncated
		header := textproto.MIMEHeader{"Content-Type": {"application/http"}}
		if call.ContentID != "" {
			header["Content-ID"] = []string{call.AnswerID()}
		}
		part, err := parts.CreatePart(header)
		if err == nil {
			err = answer.WritePart(part)
		}
		if err != nil {
			return wire.AsError(err).Reply(r.URL.Query()), false
		}
	}
	_ = parts.Close() // writing to a buffer cannot fail
	p = wire.NewReply(http.StatusOK, "multipart/mixed; boundary="+parts.Boundary(), body.Bytes())
	p.Truncated = truncated
	return p, false
}
