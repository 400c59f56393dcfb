package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxBody = 1 << 20

// method wraps a call: it counts the call, applies its fault, and writes the result as JSON.
func (s *Server) method(fn func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			answer(w, nil, refuse(http.StatusBadRequest, 0, "400: Bad Request"))
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.mu.Lock()
		s.calls = append(s.calls, r.Method+" "+r.URL.Path)
		s.touch()
		s.mu.Unlock()
		fault := s.faults.due(r.Method, r.URL.Path)
		if !fault.hold(r.Context()) || fault.Cut == CutBefore {
			panic(http.ErrAbortHandler)
		}
		if fault.Status != 0 {
			fault.write(w)
			return
		}
		result, err := s.call(r, fn)
		if fault.Cut == CutAfter {
			panic(http.ErrAbortHandler)
		}
		fault.limits(w.Header())
		answer(w, result, err)
	})
}

// call carries out the call, if the caller is authorized.
func (s *Server) call(r *http.Request, fn func(*http.Request) (any, error)) (any, error) {
	// An interaction's token is its own authorization. Anybody may request the gateway's address.
	open := strings.HasPrefix(r.URL.Path, "/interactions/") || strings.HasPrefix(r.URL.Path, "/webhooks/") ||
		r.URL.Path == "/gateway"
	if !open && r.Header.Get("Authorization") != "Bot "+s.cfg.Token {
		return nil, refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
	}
	if channel := r.PathValue("channel"); channel != "" && !slices.Contains(s.cfg.Channels, channel) {
		return nil, refuse(http.StatusNotFound, codeUnknownChannel, "Unknown Channel")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fn(r)
}

func answer(w http.ResponseWriter, result any, err error) {
	status := http.StatusOK
	if failed, ok := errors.AsType[*apiError](err); ok {
		status, result = failed.status, failed
	}
	if result == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := json.Marshal(result)
	if err != nil {
		panic(err) // only types of this package are written
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may have gone
}

// read decodes the body of a call.
func read(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	return nil
}

func (s *Server) getGateway(*http.Request) (any, error) {
	return map[string]string{"url": s.GatewayURL()}, nil
}

func (s *Server) getMe(*http.Request) (any, error) { return s.Bot(), nil }

func (s *Server) getChannel(r *http.Request) (any, error) {
	return map[string]any{"id": r.PathValue("channel"), "type": 0, "guild_id": guildID, "name": "approvals"}, nil
}

func (s *Server) createMessage(r *http.Request) (any, error) {
	var d draft
	if err := read(r, &d); err != nil {
		return nil, err
	}
	if size(d.Nonce) > 25 {
		return nil, invalid("nonce: must be 25 or fewer in length")
	}
	key := r.PathValue("channel") + " " + d.Nonce
	if first, ok := s.nonces[key]; ok && d.EnforceNonce && d.Nonce != "" {
		if m := s.find(r.PathValue("channel"), first); m != nil {
			return m, nil
		}
	}
	m := &Message{
		ID: s.newID(), ChannelID: r.PathValue("channel"), Author: s.Bot(), Timestamp: time.Now().UTC(), Embeds: []Embed{},
		Components: []Row{},
		Mentions:   []User{}, Flags: d.Flags, Nonce: d.Nonce, Enforced: d.EnforceNonce,
	}
	d.apply(m)
	if err := m.check(); err != nil {
		return nil, err
	}
	s.messages = append(s.messages, m)
	if d.Nonce != "" {
		s.nonces[key] = m.ID
	}
	s.touch()
	return m, nil
}

// find returns a message, or nil. The caller must hold the lock.
func (s *Server) find(channel, id string) *Message {
	for _, m := range s.messages {
		if m.ID == id && m.ChannelID == channel {
			return m
		}
	}
	return nil
}

func (s *Server) theMessage(r *http.Request) (*Message, error) {
	if m := s.find(r.PathValue("channel"), r.PathValue("message")); m != nil {
		return m, nil
	}
	return nil, refuse(http.StatusNotFound, codeUnknownMessage, "Unknown Message")
}

func (s *Server) getMessage(r *http.Request) (any, error) {
	m, err := s.theMessage(r)
	if err != nil {
		return nil, err
	}
	return forReading(m), nil
}

// forReading returns a message as later reads have it: only its writer gets the nonce.
func forReading(m *Message) Message {
	c := m.clone()
	c.Nonce = ""
	return c
}

// listMessages lists at most limit messages, newest first: the first ones after a message, the last ones before a
// message, or the last ones.
func (s *Server) listMessages(r *http.Request) (any, error) {
	limit := 50
	query := r.URL.Query()
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return nil, invalid("limit: int value should be between 1 and 100")
		}
		limit = n
	}
	found := []Message{}
	for _, m := range s.messages {
		after, before := query.Get("after"), query.Get("before")
		if m.ChannelID != r.PathValue("channel") || after != "" && olderFirst(m.ID, after) <= 0 || before != "" &&
			olderFirst(m.ID, before) >= 0 {
			continue
		}
		found = append(found, forReading(m))
	}
	if query.Get("after") != "" {
		found = found[:min(limit, len(found))]
	} else {
		found = found[max(0, len(found)-limit):]
	}
	slices.Reverse(found)
	return found, nil
}

func (s *Server) editMessage(r *http.Request) (any, error) {
	m, err := s.theMessage(r)
	if err != nil {
		return nil, err
	}
	if m.Author.ID != botID {
		return nil, refuse(http.StatusForbidden, codeOthersMessage, "Cannot edit a message authored by another user")
	}
	var d draft
	if err := read(r, &d); err != nil {
		return nil, err
	}
	return s.edit(m, &d)
}

// edit changes a message, unless the result would exceed a limit.
func (s *Server) edit(m *Message, d *draft) (any, error) {
	next := m.clone()
	d.apply(&next)
	if err := next.check(); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	next.EditedTimestamp, next.Edits = &now, next.Edits+1
	*m = next
	s.touch()
	return m, nil
}

func (s *Server) deleteMessage(r *http.Request) (any, error) {
	m, err := s.theMessage(r)
	if err != nil {
		return nil, err
	}
	s.messages = slices.DeleteFunc(s.messages, func(other *Message) bool { return other == m })
	s.touch()
	return nil, nil
}

// Messages returns the messages of all channels, oldest first.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Message, len(s.messages))
	for i, m := range s.messages {
		list[i] = m.clone()
	}
	return list
}

// Write posts a message of another user to the first channel, and returns it.
func (s *Server) Write(author User, content string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{
		ID: s.newID(), ChannelID: s.Channel(), Author: author, Content: content, Timestamp: time.Now().UTC(),
		Embeds: []Embed{}, Components: []Row{},
		Mentions: []User{},
	}
	s.messages = append(s.messages, m)
	s.touch()
	return m.clone()
}

// Delete deletes a message, as a moderator does. It reports whether the message existed.
func (s *Server) Delete(messageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.messages)
	s.messages = slices.DeleteFunc(s.messages, func(m *Message) bool { return m.ID == messageID })
	s.touch()
	return len(s.messages) < before
}

// ForgetNonces forgets the nonces of all messages, as Discord does after a few minutes.
func (s *Server) ForgetNonces() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.nonces)
}
