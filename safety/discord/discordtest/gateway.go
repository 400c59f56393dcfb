package discordtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// The operations of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// The codes with which the gateway closes a connection.
const (
	// CloseAuthenticationFailed: the token is wrong, and retrying is useless.
	CloseAuthenticationFailed = 4004
	// CloseUnknownError: an error of Discord's; the session can be resumed.
	CloseUnknownError   = 4000
	closeDecodeError    = 4002
	closeNotIdentified  = 4003
	closeAlreadyStarted = 4005
)

// A gateway holds the sessions and their connections. The server's lock guards it.
type gateway struct {
	sessions    map[string]*session
	conns       []*conn
	deaf        bool // heartbeats are not acknowledged
	identifies  int
	resumes     int
	heartbeats  int
	connections int
	closed      bool
	serving     sync.WaitGroup
}

// A session outlives its connections.
type session struct {
	id     string
	events []packet // all dispatched so far; their numbers begin with 1
	conn   *conn    // nil if there is none
}

type conn struct {
	ws      *websocket.Conn
	session *session // nil before it is identified

	writing sync.Mutex
}

type packet struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"s"`
	Type *string         `json:"t"`
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has responded
	}
	c := &conn{ws: ws}
	s.mu.Lock()
	if s.gateway.closed {
		s.mu.Unlock()
		_ = ws.Close()
		return
	}
	s.gateway.conns = append(s.gateway.conns, c)
	s.gateway.connections++
	s.gateway.serving.Add(1)
	defer s.gateway.serving.Done()
	s.touch()
	s.mu.Unlock()
	c.send(packet{Op: opHello, Data: marshal(
		map[string]int64{"heartbeat_interval": s.cfg.HeartbeatInterval.Milliseconds()})})
	for s.receive(c) {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	for i, other := range s.gateway.conns {
		if other == c {
			s.gateway.conns = append(s.gateway.conns[:i:i], s.gateway.conns[i+1:]...)
			break
		}
	}
	_ = ws.Close()
	s.touch()
}

// receive handles one packet. It returns false if the connection has ended.
func (s *Server) receive(c *conn) bool {
	_, message, err := c.ws.ReadMessage()
	if err != nil {
		return false
	}
	var p packet
	if err := json.Unmarshal(message, &p); err != nil {
		return c.end(closeDecodeError, "Decode error.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p.Op {
	case opHeartbeat:
		s.gateway.heartbeats++
		s.touch()
		return s.gateway.deaf || c.send(packet{Op: opHeartbeatAck})
	case opIdentify:
		return s.identify(c, p.Data)
	case opResume:
		return s.resume(c, p.Data)
	}
	return c.session != nil || c.end(closeNotIdentified, "Not authenticated.")
}

// authorized reports whether the token is the bot's. The word before it may be missing here.
func (s *Server) authorized(token string) bool {
	return strings.TrimPrefix(token, "Bot ") == s.cfg.Token
}

func (s *Server) identify(c *conn, data json.RawMessage) bool {
	var d struct {
		Token      string          `json:"token"`
		Intents    *int            `json:"intents"`
		Properties json.RawMessage `json:"properties"`
	}
	switch err := json.Unmarshal(data, &d); {
	case err != nil || d.Intents == nil || d.Properties == nil:
		return c.end(closeDecodeError, "Error while decoding payload.")
	case !s.authorized(d.Token):
		return c.end(CloseAuthenticationFailed, "Authentication failed.")
	case c.session != nil:
		return c.end(closeAlreadyStarted, "Already authenticated.")
	}
	s.gateway.identifies++
	c.session = &session{id: "session-" + s.newID(), conn: c}
	s.gateway.sessions[c.session.id] = c.session
	c.session.dispatch("READY", marshal(map[string]any{
		"v": 9, "user": s.Bot(), "guilds": []any{}, "session_id": c.session.id, "resume_gateway_url": s.GatewayURL(),
		"application": map[string]any{"id": botID, "flags": 0},
	}))
	s.touch()
	return true
}

// resume sends the events that the session missed.
func (s *Server) resume(c *conn, data json.RawMessage) bool {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return c.end(closeDecodeError, "Error while decoding payload.")
	}
	if !s.authorized(d.Token) {
		return c.end(CloseAuthenticationFailed, "Authentication failed.")
	}
	resumed := s.gateway.sessions[d.SessionID]
	if resumed == nil || d.Seq < 0 || d.Seq > len(resumed.events) {
		return c.send(packet{Op: opInvalidSession, Data: marshal(false)})
	}
	s.gateway.resumes++
	c.session, resumed.conn = resumed, c
	for _, missed := range resumed.events[d.Seq:] {
		c.send(missed)
	}
	resumed.dispatch("RESUMED", marshal(map[string]any{}))
	s.touch()
	return true
}

// dispatch sends an event to all sessions. The caller must hold the lock.
func (s *Server) dispatch(event string, data json.RawMessage) {
	for _, each := range s.gateway.sessions {
		each.dispatch(event, data)
	}
}

func (n *session) dispatch(event string, data json.RawMessage) {
	seq := len(n.events) + 1
	p := packet{Op: opDispatch, Data: data, Seq: &seq, Type: &event}
	n.events = append(n.events, p)
	if n.conn != nil {
		n.conn.send(p)
	}
}

// send reports whether the packet was sent.
func (c *conn) send(p packet) bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.ws.WriteJSON(p) == nil
}

// end closes the connection with a code and returns false.
func (c *conn) end(code int, reason string) bool {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason)) // the client may have gone
	return false
}

func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only types of this package are written
	}
	return data
}
