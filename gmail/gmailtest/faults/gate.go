package faults

import (
	"context"
	"sync"
)

// A Gate holds the calls of a [Fault] until it is opened. It makes sleeps in a test unnecessary: the test learns when
// a call has arrived, and decides when it continues. [NewGate] makes one; the zero Gate is unusable.
type Gate struct {
	arrival sync.Once
	arrived chan struct{}
	opening sync.Once
	open    chan struct{}
}

// NewGate makes a closed gate.
func NewGate() *Gate {
	return &Gate{arrived: make(chan struct{}), open: make(chan struct{})}
}

// Arrived returns a channel that is closed when the first call waits at the gate.
func (g *Gate) Arrived() <-chan struct{} { return g.arrived }

// Open lets all waiting and later calls pass.
func (g *Gate) Open() { g.opening.Do(func() { close(g.open) }) }

// Pass waits until the gate is open. It returns false if the caller gave up. A nil gate is open.
func (g *Gate) Pass(ctx context.Context) bool {
	if g == nil {
		return true
	}
	g.arrival.Do(func() { close(g.arrived) })
	select {
	case <-g.open:
		return true
	case <-ctx.Done():
		return false
	}
}
