package discordtest

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config configures a [Server]. The zero Config uses the defaults.
type Config struct {
	// Token is the token of the bot. Default "bot-token".
	Token string
	// Channels are the ids of the channels that the bot sees. Default: only [DefaultChannel].
	Channels []string
	// HeartbeatInterval is the interval that the gateway requests. Default 41.25 s, as at Discord.
	HeartbeatInterval time.Duration
}

// The default ids of a server.
const (
	DefaultChannel = "772908445358620702"
	botID          = "775799577604522054"
	guildID        = "772904309264089089"
)

// A Server is a fake Discord. [Start] makes one; it is safe for concurrent use.
type Server struct {
	cfg    Config
	http   *httptest.Server
	faults faults

	mu           sync.Mutex
	changed      chan struct{} // closed and replaced at each change
	lastID       uint64
	messages     []*Message              // of all channels, oldest first
	nonces       map[string]string       // of each channel, the ids of messages
	interactions map[string]*Interaction // by token
	calls        []string

	gateway gateway
}

// Start starts a server on a free port of the loopback address.
func Start(cfg Config) *Server {
	cfg.Token = cmp.Or(cfg.Token, "bot-token")
	cfg.HeartbeatInterval = cmp.Or(cfg.HeartbeatInterval, 41250*time.Millisecond)
	if cfg.Channels = slices.Clone(cfg.Channels); len(cfg.Channels) == 0 {
		cfg.Channels = []string{DefaultChannel}
	}
	s := &Server{
		cfg: cfg, changed: make(chan struct{}), nonces: map[string]string{}, interactions: map[string]*Interaction{},
		gateway: gateway{sessions: map[string]*session{}},
	}
	s.http = httptest.NewServer(s.routes())
	return s
}

// Close ends all connections and the server.
func (s *Server) Close() {
	s.closeGateway()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL returns the address that replaces https://discord.com, without a slash at its end.
func (s *Server) URL() string { return s.http.URL }

// GatewayURL returns the address of the websocket.
func (s *Server) GatewayURL() string {
	return "ws" + strings.TrimPrefix(s.http.URL, "http") + "/gateway/"
}

// Token returns the token of the bot.
func (s *Server) Token() string { return s.cfg.Token }

// Channel returns the id of the first channel.
func (s *Server) Channel() string { return s.cfg.Channels[0] }

// Bot returns the user of the bot.
func (s *Server) Bot() User { return User{ID: botID, Username: "postroom", Bot: true} }

// Await returns when the condition holds, or ctx's error. It calls the condition after each change of the server's
// state. The condition may call the server's methods.
func (s *Server) Await(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// touch wakes waiters after a change. The caller must hold the lock.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Calls returns the REST calls so far, each as its method and path without the version, such as "POST
// /channels/1/messages". It includes calls that met a fault.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Count returns the number of calls with the method whose path has the text.
func (s *Server) Count(method, path string) int {
	n := 0
	for _, call := range s.Calls() {
		m, p, _ := strings.Cut(call, " ")
		if m == method && strings.Contains(p, path) {
			n++
		}
	}
	return n
}

// discordEpoch is the first second of 2015, in milliseconds, from which ids count.
const discordEpoch = 1420070400000

// newID makes a snowflake. Ids are unique, and sort by their time. The caller must hold the lock.
func (s *Server) newID() string {
	s.lastID = max(s.lastID+1, uint64(time.Now().UnixMilli()-discordEpoch)<<22)
	return strconv.FormatUint(s.lastID, 10)
}

// olderFirst compares snowflakes.
func olderFirst(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, fn := range map[string]func(*http.Request) (any, error){
		"GET /gateway":                                      s.getGateway,
		"GET /users/@me":                                    s.getMe,
		"GET /channels/{channel}":                           s.getChannel,
		"POST /channels/{channel}/messages":                 s.createMessage,
		"GET /channels/{channel}/messages":                  s.listMessages,
		"GET /channels/{channel}/messages/{message}":        s.getMessage,
		"PATCH /channels/{channel}/messages/{message}":      s.editMessage,
		"DELETE /channels/{channel}/messages/{message}":     s.deleteMessage,
		"POST /interactions/{interaction}/{token}/callback": s.callback,
		"GET /webhooks/{app}/{token}/messages/@original":    s.getOriginal,
		"PATCH /webhooks/{app}/{token}/messages/@original":  s.editOriginal,
	} {
		mux.Handle(pattern, s.method(fn))
	}
	mux.Handle("/", s.method(func(*http.Request) (any, error) {
		return nil, refuse(http.StatusNotFound, 0, "404: Not Found")
	}))

	all := http.NewServeMux()
	all.HandleFunc("/gateway/{$}", s.serveGateway)
	for _, version := range []string{"v9", "v10"} {
		all.Handle("/api/"+version+"/", http.StripPrefix("/api/"+version, mux))
	}
	return all
}
