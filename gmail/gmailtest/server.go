package gmailtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom/queue/sqlite"
)

// DefaultEmail is the default of Config.Email.
const DefaultEmail = "you@example.com"

// stateFile is the database in Config.Dir.
const stateFile = "gmailtest.db"

// Config configures a [Server]. The zero Config opens an empty mailbox in memory.
type Config struct {
	// Dir is the folder that holds the mailbox; it is created if missing. Default empty: the mailbox is in memory.
	Dir string

	// Email is the owner's address, set when the mailbox is created. Default: [DefaultEmail], or the address of the mailbox
	// in Dir.
	Email string

	// Quota is enforced if its PerMinute is set. Default: no quota.
	Quota Quota

	// Now returns the time. Default: [time.Now].
	Now func() time.Time
}

// A Server is a running Gmail with one mailbox. It is safe for concurrent use, and several servers, also of
// several processes, may share one Dir.
type Server struct {
	db    *sqlite.DB
	now   func() time.Time
	email string
	url   string
	http  *http.Server

	faults faults
	quota  quota
	calls  callLog

	serving sync.WaitGroup // the accept loop and the calls under way
	mu      sync.Mutex
	closed  bool
}

// Open starts a server on a free loopback port.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := cfg.Quota.complete(); err != nil {
		return nil, err
	}
	db, err := openState(ctx, cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("gmailtest: %w", err)
	}
	s := &Server{db: db, now: cfg.Now, quota: quota{Quota: cfg.Quota, now: cfg.Now}}
	if err := s.prepare(ctx, cfg.Email); err != nil {
		return nil, errors.Join(fmt.Errorf("gmailtest: %w", err), db.Close())
	}
	if err := s.listen(); err != nil {
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
	// What Gmail has acknowledged survives the death of this process; a power failure is of no concern here.
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

// Email returns the address of the owner.
func (s *Server) Email() string { return s.email }

// Service returns a client of Google's library for this server.
func (s *Server) Service(ctx context.Context) (*gmail.Service, error) {
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "gmailtest"})
	return gmail.NewService(ctx, option.WithEndpoint(s.url), option.WithTokenSource(token))
}

// Close ends the calls under way and closes the mailbox.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.http.Close()
	s.serving.Wait()
	return errors.Join(err, s.db.Close())
}

func (s *Server) listen() error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.url = "http://" + listener.Addr().String() + "/"
	s.http = &http.Server{Handler: s.mux(), ReadHeaderTimeout: 10 * time.Second}
	s.serving.Go(func() { _ = s.http.Serve(listener) })
	return nil
}

func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	for method, route := range s.routes() {
		verb, path, _ := strings.Cut(route.pattern, " ")
		mux.HandleFunc(verb+" /gmail/v1/users/{user}"+path, func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, r, method, route.handle)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		message := fmt.Sprintf("gmailtest has no %s %s", r.Method, r.URL.Path)
		(&apiError{status: http.StatusNotFound, reason: "notFound", message: message}).write(w)
	})
	return mux
}

// enter counts a call in, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}

// serve answers one call, as the faults allow.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method Method, handle handler) {
	if !s.enter() {
		panic(http.ErrAbortHandler) // closes the connection
	}
	defer s.serving.Done()
	call := Call{Method: method, Verb: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
	fault := s.faults.due(method, r.URL.Path)
	if !fault.Gate.wait(r.Context()) || fault.Cut == CutBefore {
		call.Cut = true
		s.calls.add(call)
		panic(http.ErrAbortHandler)
	}
	answer, err := s.answer(r, &call, fault, handle)
	call.Status = http.StatusOK
	switch {
	case err != nil:
		call.Status = asAPIError(err).status
	case answer == nil:
		call.Status = http.StatusNoContent
	}
	call.Cut = fault.Cut == CutAfter
	s.calls.add(call)
	if call.Cut {
		panic(http.ErrAbortHandler)
	}
	fault.write(w, call.Status, answer, err)
}

// answer does what was asked, after all that can be wrong with the asking.
func (s *Server) answer(r *http.Request, call *Call, fault Fault, handle handler) (any, error) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return nil, unauthenticated()
	}
	if user := r.PathValue("user"); user != "me" && !strings.EqualFold(user, s.email) {
		return nil, &apiError{status: http.StatusForbidden, reason: "forbidden", message: "Delegation denied for " + user}
	}
	if fault.Status != 0 {
		return nil, fault.apiError()
	}
	cost, err := s.quota.spend(call.Method)
	if err != nil {
		return nil, err
	}
	call.Units = cost
	return handle(r.Context(), r)
}

// maxRequest bounds a request's body: the largest message, in base64, and what surrounds it.
const maxRequest = 36_700_160*4/3 + 64<<10

// readJSON reads a request's body.
func readJSON(r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &apiError{status: http.StatusRequestEntityTooLarge, reason: "uploadTooLarge", message: "Request entity too large."}
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &apiError{status: http.StatusBadRequest, reason: "parseError", message: "Parse Error"}
	}
	return nil
}
