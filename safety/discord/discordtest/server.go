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
	// Channels are the ids of the channels that the bot sees. Default one, [DefaultChannel].
	Channels []string
	// HeartbeatInterval is what the gateway asks for. Default 41.25 s, as Discord does.
	HeartbeatInterval time.Duration
}

// The ids of a server whose Config does not say otherwise.
const (
	DefaultChannel = "772908445358620702"
	botID          = "775799577604522054"
	guildID        = "772904309264089089"
)

// A Server is a Discord. [Start] makes one; it is safe for concurrent use.
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

// URL is the address in place of https://discord.com, without a slash at its end.
func (s *Server) URL() string { return s.http.URL }

// GatewayURL is the address of the websocket.
func (s *Server) GatewayURL() string {
	return "ws" + strings.TrimPrefix(s.http.URL, "http") + "/gateway/"
}

// Token is the token of the bot.
func (s *Server) Token() string { return s.cfg.Token }

// Channel is the id of the first channel.
func (s *Server) Channel() string { return s.cfg.Channels[0] }

// Bot is the user that the bot is.
func (s *Server) Bot() User { return User{ID: botID, Username: "postroom", Bot: true} }

// Await returns when the condition holds, or ctx's error. The condition is asked after each change of the server's state, and may
// call the server's methods.
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

// touch tells those who wait that something has changed; the caller holds the lock.
func (s *Server) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Calls lists the REST calls so far, each as its method and path without the version, such as "POST /channels/1/messages". Calls
// that met a fault are among them.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Count returns how many calls there were of the method whose path has the text.
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

// newID makes a snowflake: ids are unique, and sort by their time. The caller holds the lock.
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
	mux.Handle("/", s.method(func(*http.Request) (any, error) { return nil, refuse(http.StatusNotFound, 0, "404: Not Found") }))

	all := http.NewServeMux()
	all.HandleFunc("/gateway/{$}", s.serveGateway)
	for _, version := range []string{"v9", "v10"} {
		all.Handle("/api/"+version+"/", http.StripPrefix("/api/"+version, mux))
	}
	return all
}
