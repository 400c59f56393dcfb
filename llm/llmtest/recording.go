package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/postroom-go/postroom/llm"
)

// An exchange is a call and its answer in a file of recordings. It has no key: the Recorder wraps the clients that have
// one.
type exchange struct {
	Fingerprint string        `json:"fingerprint"`
	Messages    []llm.Message `json:"messages"`
	Response    *llm.Response `json:"response,omitempty"`
	Failure     *failure      `json:"failure,omitempty"`
}

// A failure is an [llm.Error].
type failure struct {
	Provider string `json:"provider"`
	Status   int    `json:"status,omitempty"`
	Reason   string `json:"reason"`
	Text     string `json:"text,omitempty"`
}

var reasons = []error{
	llm.ErrRateLimited, llm.ErrOverloaded, llm.ErrUnavailable, llm.ErrBadKey, llm.ErrNoModel, llm.ErrNoCredit,
	llm.ErrBudget,
	llm.ErrContextTooLong, llm.ErrAnswerTooLong, llm.ErrRefused, llm.ErrBadRequest,
}

// A Recorder calls a client and writes each exchange to a file, for [NewReplayed]. It does not stream.
type Recorder struct {
	client llm.Client
	path   string

	mu        sync.Mutex
	exchanges []exchange
}

var _ llm.Client = (*Recorder)(nil)

// NewRecorder makes a recorder of the client, usually one of a real provider. The file is rewritten after each call.
func NewRecorder(client llm.Client, path string) *Recorder {
	return &Recorder{client: client, path: path}
}

// Complete calls the client and records the result.
func (r *Recorder) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	whole := *req
	whole.Stream = nil
	resp, err := r.client.Complete(ctx, &whole)
	seen := exchange{Fingerprint: req.Fingerprint(), Messages: req.Messages, Response: resp}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		seen.Failure = &failure{Provider: e.Provider, Status: e.Status, Text: fmt.Sprint(e.Err)}
		for _, reason := range reasons {
			if errors.Is(e, reason) {
				seen.Failure.Reason = reason.Error()
			}
		}
	case err != nil:
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, seen)
	encoded, fault := json.MarshalIndent(r.exchanges, "", "  ")
	if fault == nil {
		fault = os.WriteFile(r.path, append(encoded, '\n'), 0o600)
	}
	return resp, errors.Join(err, fault)
}

// Replayed replays a file of recordings. A request that was not recorded fails the test.
type Replayed struct {
	t testing.TB

	mu        sync.Mutex
	exchanges map[string][]exchange
}

var _ llm.Client = (*Replayed)(nil)

// NewReplayed reads a file that a [Recorder] has written. Equal requests get their answers in the order of the file,
// and then always the last one.
func NewReplayed(t testing.TB, path string) *Replayed {
	t.Helper()
	b, err := os.ReadFile(path)
	var list []exchange
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		t.Fatalf("llmtest: recordings: %v", err)
	}
	r := &Replayed{t: t, exchanges: map[string][]exchange{}}
	for _, e := range list {
		r.exchanges[e.Fingerprint] = append(r.exchanges[e.Fingerprint], e)
	}
	return r
}

// Complete returns the recorded answer.
func (r *Replayed) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := req.Fingerprint()
	list := r.exchanges[key]
	if len(list) == 0 {
		r.t.Errorf("llmtest: the request %s was not recorded; record it again", key)
		return nil, &llm.Error{Provider: "llmtest", Reason: llm.ErrBadRequest, Err: errors.New("not recorded")}
	}
	if len(list) > 1 {
		r.exchanges[key] = list[1:]
	}
	seen := list[0]
	if seen.Failure == nil {
		resp := *seen.Response
		return &resp, nil
	}
	e := &llm.Error{Provider: seen.Failure.Provider, Status: seen.Failure.Status, Err: errors.New(seen.Failure.Text)}
	for _, reason := range reasons {
		if reason.Error() == seen.Failure.Reason {
			e.Reason = reason
		}
	}
	return nil, e
}
