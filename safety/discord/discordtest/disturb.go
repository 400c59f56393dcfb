package discordtest

import "slices"

// Connected returns the number of connections that are identified or resumed.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.gateway.conns {
		if c.session != nil && c.session.conn == c {
			n++
		}
	}
	return n
}

// Gateway counts the events of the gateway so far.
type Gateway struct {
	Connections int // opened websockets
	Identifies  int // new sessions
	Resumes     int // resumed sessions
	Heartbeats  int
}

// Gateway returns the counts so far.
func (s *Server) Gateway() Gateway {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.gateway
	return Gateway{Connections: g.connections, Identifies: g.identifies, Resumes: g.resumes, Heartbeats: g.heartbeats}
}

// Disconnect closes all connections with the code, such as [CloseUnknownError]. Code 0 cuts them without a close
// message. Sessions can be resumed.
func (s *Server) Disconnect(code int) {
	for _, c := range s.connections() {
		if code != 0 {
			c.end(code, "")
		}
		_ = c.ws.Close()
	}
}

// connections returns the open connections and detaches their sessions, so that no event is lost in a closing
// connection.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.gateway.conns {
		if c.session != nil && c.session.conn == c {
			c.session.conn = nil
		}
	}
	return slices.Clone(s.gateway.conns)
}

// RequestReconnect asks all connections to reconnect, as Discord does before it restarts.
func (s *Server) RequestReconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.gateway.conns {
		c.send(packet{Op: opReconnect})
	}
}

// InvalidateSessions forgets all sessions. A client that resumes one is told that it is invalid.
func (s *Server) InvalidateSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.gateway.sessions)
}

// IgnoreHeartbeats sets whether the server leaves heartbeats unanswered from now on.
func (s *Server) IgnoreHeartbeats(ignore bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.deaf = ignore
}

func (s *Server) closeGateway() {
	s.mu.Lock()
	s.gateway.closed = true
	s.mu.Unlock()
	s.Disconnect(0)
	s.gateway.serving.Wait()
}

// Dispatch sends any event to all sessions.
func (s *Server) Dispatch(event string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatch(event, data)
}
