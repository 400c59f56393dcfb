package queue

import "encoding/json"

// A HandlerInfo describes a handler that is registered with a [Dispatcher], for tools that compare a program with stored jobs.
type HandlerInfo struct {
	// Steps are the names that [WithSteps] has given; nil without it.
	Steps []string

	fits func(payload json.RawMessage) error
}

// Accepts reports why a payload, as [Queue.Job] shows it, does not fit the handler's type; nil when it does.
func (h HandlerInfo) Accepts(payload json.RawMessage) error { return h.fits(payload) }

// Handlers returns the registered handlers by the types of their jobs.
func (d *Dispatcher) Handlers() map[string]HandlerInfo {
	d.registration.Lock()
	defer d.registration.Unlock()
	infos := make(map[string]HandlerInfo, len(d.handlers))
	for name, h := range d.handlers {
		infos[name] = HandlerInfo{Steps: h.steps, fits: h.fits}
	}
	return infos
}

// Queue returns the queue that the dispatcher works on.
func (d *Dispatcher) Queue() *Queue { return d.q }
