package queue

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Versioned payload names the version of its form, which is stored with each job. The methods do not read the value
// that they are called on, which is a new one.
//
//	func (Invoice) PayloadVersion() int { return 2 }
//
//	func (Invoice) Upcast(version int, old json.RawMessage) (json.RawMessage, error) { … }
//
// A job of an older version is brought into the form of the program by Upcast, before it is decoded for its handler. A
// job of a newer version is left to others: a dispatcher that claims one gives it back at once, for 1 s, then 2 s, up
// to a minute, and counts nothing. So a program can be replaced by a newer version of it while both run.
type Versioned interface {
	// PayloadVersion is the version that the program writes, from 1 on.
	PayloadVersion() int
	// Upcast returns the JSON of this version for that of an older one. Version 0 is the form before the type was
	// Versioned. With an error, the payload does not fit the handler.
	Upcast(version int, old json.RawMessage) (json.RawMessage, error)
}

// versionOf returns the version of the payload's form; 0: it has none.
func versionOf(payload any) int {
	if v, ok := versioned(payload); ok {
		return v.PayloadVersion()
	}
	return 0
}

var (
	versionedType = reflect.TypeFor[Versioned]()
	// unversioned are the types of payloads that have no versions.
	unversioned sync.Map
)

// versioned returns a value that has the methods of the payload's type or, as for encoding/json, of a pointer to it.
func versioned(payload any) (Versioned, bool) {
	t := reflect.TypeOf(payload)
	if t == nil {
		return nil, false
	}
	if _, ok := unversioned.Load(t); ok {
		return nil, false
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !reflect.PointerTo(t).Implements(versionedType) {
		unversioned.Store(reflect.TypeOf(payload), true)
		return nil, false
	}
	return reflect.TypeAssert[Versioned](reflect.New(t))
}

// upcast returns the stored payload in the form of the type of payload.
func upcast(payload any, stored json.RawMessage, version int) (json.RawMessage, error) {
	v, ok := versioned(payload)
	known := 0
	if ok {
		known = v.PayloadVersion()
	}
	switch {
	case version > known:
		return nil, errNewer(version, known)
	case version == known || isEncoded(stored):
		return stored, nil
	}
	form, err := v.Upcast(version, stored)
	if err != nil {
		err = fmt.Errorf("upcast from version %d to %d: %w", version, known, err)
	}
	return form, err
}

func errNewer(version, known int) error {
	return fmt.Errorf("it is of version %d, and this program knows %d", version, known)
}

// leaveRetry is how long a job is left to others, by its attempts.
var leaveRetry = RetryPolicy{Base: time.Second, Factor: 2, Cap: time.Minute, Jitter: 0.25}

// leave gives back the jobs whose payloads are of a newer version than their handlers know, and returns the others.
func (r *runner) leave(entries []*entry) []*entry {
	var left, rest []*entry
	for i, e := range entries {
		switch newer := e.attempt.job.PayloadVersion > r.handlers[e.attempt.job.Type].version; {
		case newer && left == nil:
			rest = append(rest, entries[:i]...)
			fallthrough
		case newer:
			left = append(left, e)
		case left != nil:
			rest = append(rest, e)
		}
	}
	if left == nil {
		return entries
	}
	r.running.pass(left)
	for _, e := range left {
		job := e.attempt.job
		r.completer.add(newCompletion(e.attempt, driver.Outcome{
			Lease: job.lease(), State: StateQueued, Kind: driver.KindReleased, At: r.now(),
			NotBefore: r.now().Add(leaveRetry.after(job.Attempt)),
			Error: fmt.Sprintf("left to others by %s: the payload does not fit: %v", job.WorkerID,
				errNewer(job.PayloadVersion, r.handlers[job.Type].version)),
		}))
	}
	return rest
}

// pass adds entries that are given back without having waited for a slot.
func (s *runningSet) pass(entries []*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		e.given = true
		s.attempts[e.attempt.job.lease()] = e
	}
}
