package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/internal/fields"
)

// A Fallback asks clients in order until one answers.
type Fallback struct{ clients []Client }

var _ Client = (*Fallback)(nil)

// NewFallback makes a client of several. The first that can answer is used.
func NewFallback(clients ...Client) (*Fallback, error) {
	if len(clients) == 0 {
		return nil, errors.New("llm: NewFallback: there is no client; give one at least")
	}
	for i, c := range clients {
		if err := fields.Required(fmt.Sprintf("llm: NewFallback: client %d", i), c, "the client of a provider"); err != nil {
			return nil, err
		}
	}
	return &Fallback{clients: slices.Clone(clients)}, nil
}

// Complete calls one client after the other. It continues after every failure except a refusal, which another model
// must not overrule, a spent budget, and a stream that has begun. If all fail, the error is that of the client that can
// be asked again first, with the others in its text.
func (f *Fallback) Complete(ctx context.Context, req *Request) (*Response, error) {
	var faults []error
	var best *Error
	begun := watchStream(req)
	for _, c := range f.clients {
		resp, err := Complete(ctx, c, begun.req)
		if err == nil {
			return resp, nil
		}
		var e *Error
		if !errors.As(err, &e) || begun.any || ctx.Err() != nil || errors.Is(err, ErrRefused) || errors.Is(err, ErrBudget) {
			return nil, err
		}
		faults = append(faults, err)
		if best == nil || e.sooner(best) {
			best = e
		}
	}
	if len(faults) == 1 {
		return nil, faults[0]
	}
	all := *best
	all.Provider, all.Hint, all.Err = "all clients", "see each", errors.Join(faults...)
	return nil, &all
}

// sooner reports whether a call can follow e before one that follows other.
func (e *Error) sooner(other *Error) bool {
	if a, b := e.Class() == Fatal, other.Class() == Fatal; a != b {
		return b
	}
	return e.wait() < other.wait()
}
