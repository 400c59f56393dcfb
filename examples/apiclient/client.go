package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client calls the HTTP API of a postroomd. It is safe for concurrent use.
type Client struct {
	URL   string        // of postroomd, such as http://127.0.0.1:17800
	Token string        // one of 'postroomd tokens add', or api.token of the configuration
	Pause time.Duration // before a broken stream of events goes on
}

// A Problem is an answer that is an error (RFC 9457). Detail says what to do.
type Problem struct { //nolint:errname // its name in RFC 9457
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

type header map[string]string

// do makes a call. A body is sent as JSON unless it is nil. The caller closes the body of the answer, which is not a
// problem.
func (c *Client) do(ctx context.Context, method, path string, h header, body any) (*http.Response, error) {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+"/api/v1"+path, &text)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	for name, value := range h {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode == http.StatusOK {
		return answer, err
	}
	defer answer.Body.Close()
	p := &Problem{Status: answer.StatusCode, Title: answer.Status}
	_ = json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(p) // a proxy may answer with something else
	return nil, p
}

// call makes a call, and reads its answer and its ETag.
func call[Out any](ctx context.Context, c *Client, method, path string, h header, body any) (out Out, etag string,
	err error) {
	answer, err := c.do(ctx, method, path, h, body)
	if err != nil {
		return out, "", err
	}
	defer answer.Body.Close()
	return out, answer.Header.Get("ETag"), json.NewDecoder(answer.Body).Decode(&out)
}

// A Message is a message of a mailbox.
type Message struct {
	ID, Subject, Snippet string
	From                 struct{ Name, Email string }
	Labels               []string
}

type mailPage struct {
	Messages []Message
	Next     string
}

// Mail finds the messages of a search in Gmail's language, the newest first. It asks for the next page when the one
// before is read.
func (c *Client) Mail(ctx context.Context, mailbox, search string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		query := url.Values{"mailbox": {mailbox}, "q": {search}}
		for more := true; more; more = query.Get("cursor") != "" {
			page, _, err := call[mailPage](ctx, c, http.MethodGet, "/mail?"+query.Encode(), nil, nil)
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range page.Messages {
				if !yield(m, nil) {
					return
				}
			}
			query.Set("cursor", page.Next)
		}
	}
}

// A Request is an action that waits for a person.
type Request struct {
	ID, Mailbox, Would, Subject string
	Reasons                     []string
	RequestID                   string `json:"request_id"`
	Digest                      string
}

// Waiting returns the newest requests that wait, at most 100.
func (c *Client) Waiting(ctx context.Context) (list []Request, err error) {
	list, _, err = call[[]Request](ctx, c, http.MethodGet, "/approvals?limit=100", nil, nil)
	return list, err
}

// Approve approves a request as it was shown. If it was answered or has changed since, that is a Problem of status 409.
func (c *Client) Approve(ctx context.Context, r Request) error {
	_, _, err := call[any](ctx, c, http.MethodPost, "/approvals/"+url.PathEscape(r.ID)+"/approve", nil,
		map[string]string{"request_id": r.RequestID, "digest": r.Digest})
	return err
}

// Undo takes an action back.
func (c *Client) Undo(ctx context.Context, actionID string) error {
	_, _, err := call[any](ctx, c, http.MethodPost, "/actions/"+url.PathEscape(actionID)+"/undo", nil, nil)
	return err
}

// Change reads a rule or an instruction by its path, such as "/rules/ID", and changes some of its fields. If somebody
// has changed it in between, that is a Problem of status 412.
func (c *Client) Change(ctx context.Context, path string, change func(is map[string]any) map[string]any) error {
	is, etag, err := call[map[string]any](ctx, c, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	_, _, err = call[any](ctx, c, http.MethodPatch, path, header{"If-Match": etag}, change(is))
	return err
}

// An Event is a change of a decision, an action, an approval or an undo, or an event such as a stop.
type Event struct {
	Number, Kind string    `json:"-"`
	ID           string    `json:"id"`
	Mailbox      string    `json:"mailbox"`
	State        string    `json:"state"`
	At           time.Time `json:"at"`
}

// Events follows what happens, from the event after a number, or from now on if that is empty. After a break it goes on
// where it was: no event is left out, and none comes twice. It ends with the context, or by a Problem that stays.
func (c *Client) Events(ctx context.Context, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ctx.Err() == nil {
			answer, err := c.do(ctx, http.MethodGet, "/events", header{"Last-Event-ID": after}, nil) //nolint:bodyclose // read does
			p, refused := errors.AsType[*Problem](err)
			if refused && p.Status < 500 && p.Status != http.StatusTooManyRequests {
				yield(Event{}, err)
				return
			}
			if err == nil && !c.read(answer.Body, &after, yield) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(c.Pause):
			}
		}
	}
}

// read reads a stream until it breaks, and keeps the number of the last event. It reports whether to go on.
func (c *Client) read(stream io.ReadCloser, last *string, yield func(Event, error) bool) bool {
	defer stream.Close()
	var e Event
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			e.Number = value
		case "event":
			e.Kind = value
		case "data":
			_ = json.Unmarshal([]byte(value), &e) // what cannot be read is not of this API
		case "": // the event is whole
			if e.Number == "" {
				continue
			}
			if *last = e.Number; e.Kind != "begin" && !yield(e, nil) {
				return false
			}
			e = Event{}
		}
	}
	return true
}
