package discordtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Press is a click on a button.
type Press struct {
	User User
	// MessageID is the message with the button. Required.
	MessageID string
	// Label is the label of the button. It is not needed with a CustomID.
	Label string

	// CustomID replaces the button's custom id, as a forger does.
	CustomID string
	// ChannelID replaces the message's channel.
	ChannelID string
	// Direct sends the press as from a direct message, without a member of a server.
	Direct bool
}

// The types of answers to interactions.
const (
	answerMessage        = 4
	answerDeferred       = 5
	answerDeferredUpdate = 6
	answerUpdate         = 7
	flagEphemeral        = 1 << 6
)

// An Interaction is a press and the program's response to it.
type Interaction struct {
	ID    string
	Token string

	server  *Server
	message string
	payload json.RawMessage

	// Guarded by the server's lock.
	expired  bool
	kind     int // 0: not answered yet
	flags    int // of the answer
	original *Message
}

// Press presses a button. All sessions of the gateway get the interaction, including those that are resumed later.
// The error names an invalid part of the press.
func (s *Server) Press(p Press) (*Interaction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.ID == p.MessageID })
	if i < 0 {
		return nil, fmt.Errorf("discordtest: there is no message %q", p.MessageID)
	}
	m := s.messages[i]
	custom := p.CustomID
	if custom == "" {
		b, ok := m.Button(p.Label)
		if !ok || b.Disabled {
			return nil, fmt.Errorf("discordtest: message %s has no button %q to press", m.ID, p.Label)
		}
		custom = b.CustomID
	}
	in := &Interaction{ID: s.newID(), server: s, message: m.ID}
	in.Token = "token-" + in.ID
	in.payload = s.interactionPayload(in, m, p, custom)
	s.interactions[in.Token] = in
	s.dispatch("INTERACTION_CREATE", in.payload)
	s.touch()
	return in, nil
}

func (s *Server) interactionPayload(in *Interaction, m *Message, p Press, custom string) json.RawMessage {
	payload := map[string]any{
		"id": in.ID, "application_id": botID, "type": 3, "token": in.Token, "version": 1, "locale": "en-US",
		"channel_id": cmp.Or(p.ChannelID, m.ChannelID), "message": forReading(m),
		"data": map[string]any{"custom_id": custom, "component_type": 2},
	}
	if p.Direct {
		payload["user"] = p.User
	} else {
		payload["guild_id"] = guildID
		payload["member"] = map[string]any{"user": p.User, "roles": []string{}, "permissions": "2147483647",
			"joined_at": "2017-03-13T19:19:14.040000+00:00"}
	}
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err) // only types of this package are written
	}
	return body
}

// Redeliver sends the interaction to all sessions again, like a gateway that repeats an event.
func (in *Interaction) Redeliver() {
	in.server.mu.Lock()
	defer in.server.mu.Unlock()
	in.server.dispatch("INTERACTION_CREATE", in.payload)
}

// Expire ends the time in which the interaction can be answered.
func (in *Interaction) Expire() {
	in.server.mu.Lock()
	defer in.server.mu.Unlock()
	in.expired = true
}

// Deferred reports whether the program has responded that its answer comes later.
func (in *Interaction) Deferred() bool {
	in.server.mu.Lock()
	defer in.server.mu.Unlock()
	return in.kind == answerDeferred || in.kind == answerDeferredUpdate
}

// Answered returns the message that the person who pressed sees, if there is one yet.
func (in *Interaction) Answered() (Message, bool) {
	in.server.mu.Lock()
	defer in.server.mu.Unlock()
	if in.original == nil {
		return Message{}, false
	}
	return in.original.clone(), true
}

// Answer waits for the message that the person who pressed sees, and returns its text. A message that others see too
// is an error.
func (in *Interaction) Answer(ctx context.Context) (string, error) {
	var m Message
	err := in.server.Await(ctx, func() (ok bool) {
		m, ok = in.Answered()
		return ok
	})
	if err == nil && m.Flags&flagEphemeral == 0 {
		err = fmt.Errorf("discordtest: the answer to interaction %s is for all to see", in.ID)
	}
	return m.Text(), err
}

func (s *Server) callback(r *http.Request) (any, error) {
	in := s.interactions[r.PathValue("token")]
	if in == nil || in.ID != r.PathValue("interaction") || in.expired {
		return nil, refuse(http.StatusNotFound, codeUnknownInteraction, "Unknown interaction")
	}
	if in.kind != 0 {
		return nil, refuse(http.StatusBadRequest, codeAcknowledged, "Interaction has already been acknowledged.")
	}
	var response struct {
		Type int   `json:"type"`
		Data draft `json:"data"`
	}
	if err := read(r, &response); err != nil {
		return nil, err
	}
	if err := s.respond(in, response.Type, &response.Data); err != nil {
		return nil, err
	}
	in.kind = response.Type
	s.touch()
	return nil, nil
}

func (s *Server) respond(in *Interaction, kind int, d *draft) error {
	switch kind {
	case answerMessage:
		original := s.answerTo(d.Flags)
		d.apply(original)
		if err := original.check(); err != nil {
			return err
		}
		in.original = original
	case answerUpdate:
		i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.ID == in.message })
		if i < 0 {
			return refuse(http.StatusNotFound, codeUnknownMessage, "Unknown Message")
		}
		_, err := s.edit(s.messages[i], d)
		return err
	case answerDeferred, answerDeferredUpdate:
	default:
		return invalid("type: Value must be one of {4, 5, 6, 7}.")
	}
	in.flags = d.Flags // the deferral decides who sees the answer
	return nil
}

// answerTo is an empty answer to an interaction.
func (s *Server) answerTo(flags int) *Message {
	return &Message{ID: s.newID(), Author: s.Bot(), Timestamp: time.Now().UTC(), Embeds: []Embed{}, Components: []Row{},
		Mentions: []User{}, Flags: flags}
}

// theOriginal finds the interaction of a call about its response.
func (s *Server) theOriginal(r *http.Request) (*Interaction, error) {
	in := s.interactions[r.PathValue("token")]
	if in == nil || r.PathValue("app") != botID {
		return nil, refuse(http.StatusNotFound, codeUnknownWebhook, "Unknown Webhook")
	}
	if in.kind == 0 {
		return nil, refuse(http.StatusNotFound, codeUnknownMessage, "Unknown Message")
	}
	return in, nil
}

func (s *Server) getOriginal(r *http.Request) (any, error) {
	in, err := s.theOriginal(r)
	switch {
	case err != nil:
		return nil, err
	case in.original == nil:
		return nil, refuse(http.StatusNotFound, codeUnknownMessage, "Unknown Message")
	}
	return in.original, nil
}

func (s *Server) editOriginal(r *http.Request) (any, error) {
	in, err := s.theOriginal(r)
	if err != nil {
		return nil, err
	}
	var d draft
	if err := read(r, &d); err != nil {
		return nil, err
	}
	m := in.original
	if m == nil {
		m = s.answerTo(in.flags)
	}
	result, err := s.edit(m, &d)
	if err == nil {
		in.original = m
		s.touch()
	}
	return result, err
}
