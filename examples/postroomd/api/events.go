package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety/audit"
)

// An eventsAPI streams what happens, as the audit log has it: each change of a decision, an action, a request for
// approval or a stop has a number, and a client goes on after the last that it has seen.
type eventsAPI struct {
	app  *app.App
	of   mailboxes
	done <-chan struct{} // ends the streams
	open *openStreams
}

// mostStreams bounds the open streams of a token.
const mostStreams = 10

// openStreams counts the open streams of each token, by its name.
type openStreams struct {
	mu sync.Mutex
	of map[string]int
}

// begin counts a stream until end is called; it reports whether the token may have one more.
func (s *openStreams) begin(token string) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[token] >= mostStreams {
		return nil, false
	}
	s.of[token]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.of[token]--; s.of[token] == 0 {
			delete(s.of, token)
		}
	}, true
}

func (a eventsAPI) routes() []webapi.Route {
	return []webapi.Route{webapi.Stream(webapi.Route{Path: "/events", Scope: webapi.See, Account: a.of.byQuery,
		Summary: "Stream what happens as server-sent events; Last-Event-ID goes on after an event"}, a.stream),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/acts", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List who has stopped, changed and said what: stops, mailboxes, labels, instructions, drafts"}, a.acts)}
}

type actsQuery struct {
	Mailbox string `jsonschema:"only this one, by its address" query:"mailbox"`
	Before  string `jsonschema:"next of the page before"       query:"before"`
}

func (a eventsAPI) acts(r *http.Request, in actsQuery) (*view.Acts, error) {
	accountID, err := a.of.byQuery(r)
	if err != nil {
		return nil, err
	}
	return view.NewActs(r.Context(), a.app, cmp.Or(webapi.CallerOf(r).AccountID, accountID), in.Before)
}

const (
	eventsInterval = time.Second
	eventsPage     = 100
	// keepAlive is how often a line is sent while nothing happens, and sendTimeout how long a line may take.
	keepAlive   = 15 * time.Second
	sendTimeout = 10 * time.Second
)

type eventsQuery struct {
	Mailbox string `jsonschema:"only this one, by its address"                                query:"mailbox"`
	After   string `jsonschema:"the number of the last event that was seen, as Last-Event-ID" query:"after"`
}

// An event is a change. Its event field has the kind: decision, action, approval, undo or event, such as a stop.
type event struct {
	ID      string    `json:"id"` // of the decision, the action or the request
	Mailbox string    `json:"mailbox,omitempty"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
}

// An eventStream sends the events of one client.
type eventStream struct {
	eventsAPI
	w         http.ResponseWriter
	accountID string // empty: all
	addresses map[string]string
	last      int64
	sent      time.Time
}

func (a eventsAPI) stream(w http.ResponseWriter, r *http.Request, in eventsQuery) error {
	s := &eventStream{eventsAPI: a, w: w, addresses: map[string]string{}}
	accountID, err := a.of.byQuery(r)
	if err != nil {
		return err
	}
	s.accountID = cmp.Or(webapi.CallerOf(r).AccountID, accountID)
	accounts, err := a.app.Mail.Accounts(r.Context())
	if err != nil {
		return err
	}
	for _, account := range accounts {
		s.addresses[account.ID] = account.Email
	}
	head, err := a.app.Audit.Head(r.Context(), a.app.DB.Reader())
	if err != nil {
		return err
	}
	s.last = head.Entries
	if after := cmp.Or(r.Header.Get("Last-Event-ID"), in.After); after != "" {
		if s.last, err = strconv.ParseInt(after, 10, 64); err != nil || s.last < 0 || s.last > head.Entries {
			return webapi.WithStatus(http.StatusUnprocessableEntity,
				errors.New("there was no such event: leave Last-Event-ID and after out, and begin with what is now"))
		}
	}
	end, ok := a.open.begin(TokenOf(r).Name)
	if !ok {
		return webapi.WithStatus(http.StatusTooManyRequests, fmt.Errorf(
			"the token has %d open streams of events, and may have no more: close one, and call again", mostStreams))
	}
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	s.follow(r.Context(), func() error { return stillValid(r) })
	return nil
}

// follow sends events until the client goes, its token is not valid any more, or the program ends.
func (s *eventStream) follow(ctx context.Context, valid func() error) {
	if s.send(fmt.Sprintf("retry: 2000\nid: %d\nevent: begin\ndata: {}\n\n", s.last)) != nil {
		return
	}
	again := time.NewTicker(eventsInterval)
	defer again.Stop()
	for {
		if valid() != nil || s.sendNew(ctx) != nil {
			return // the client comes back, and goes on after what it has
		}
		select {
		case <-ctx.Done():
			return
		case <-s.done:
			return
		case <-again.C:
		}
	}
}

func (s *eventStream) sendNew(ctx context.Context) error {
	for {
		entries, err := s.app.Audit.Entries(ctx, s.last, eventsPage)
		if err != nil {
			return err
		}
		for _, e := range entries {
			s.last = e.Number
			if s.accountID != "" && e.AccountID != "" && e.AccountID != s.accountID {
				continue
			}
			if err := s.sendEntry(e); err != nil {
				return err
			}
		}
		if len(entries) < eventsPage {
			break
		}
	}
	if time.Since(s.sent) < keepAlive {
		return nil
	}
	return s.send(": nothing new\n\n")
}

func (s *eventStream) sendEntry(e audit.Entry) error {
	data, err := json.Marshal(event{e.Subject, s.addresses[e.AccountID], e.Note, e.At.Time})
	if err != nil {
		return err
	}
	return s.send(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.Number, e.Kind, data))
}

func (s *eventStream) send(text string) error {
	s.sent = time.Now()
	control := http.NewResponseController(s.w)
	if err := control.SetWriteDeadline(s.sent.Add(sendTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}
