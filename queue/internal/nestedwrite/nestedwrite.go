// Package nestedwrite recognizes a goroutine that begins a write inside another write of the same database, whatever
// its context. It inspects the goroutine's own stack, and only on request: an ordinary write costs two short locks.
package nestedwrite

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Guard stands for one database; the zero Guard is ready for use. It must not be copied.
type Guard struct{ _ byte } // not empty, so that no two have the same address

// A write is a running write.
type write struct {
	guard *Guard
	id    uint64
}

// writes are those of all databases, since a stack does not show the database of a frame.
var writes struct {
	mu   sync.Mutex
	last uint64
	open []write
}

// Run runs fn as a write of the guard's database. It returns when fn returns, panics or calls [runtime.Goexit].
//
//go:noinline
func (g *Guard) Run(fn func()) {
	id := enter(g)
	defer leave(id)
	fn()
}

func enter(g *Guard) uint64 {
	writes.mu.Lock()
	defer writes.mu.Unlock()
	writes.last++
	writes.open = append(writes.open, write{g, writes.last})
	return writes.last
}

func leave(id uint64) {
	writes.mu.Lock()
	defer writes.mu.Unlock()
	at := slices.IndexFunc(writes.open, func(w write) bool { return w.id == id })
	last := len(writes.open) - 1
	writes.open[at] = writes.open[last]
	writes.open[last] = write{}
	writes.open = writes.open[:last]
}

const (
	// recheck is how long Inside waits before it checks the writes of other goroutines again.
	recheck = time.Millisecond
	// patience bounds that wait: two goroutines, each inside a write of one database, that begin a write of the other's
	// would wait for each other forever.
	patience = 2 * time.Second
)

// Inside reports whether the caller's goroutine is inside a write of the guard's database. If writes of several
// databases run and the caller is inside one of them, it waits until enough of the others have ended to decide. After 2
// s it returns true: refusing a write loses nothing, while waiting may never end.
func (g *Guard) Inside() bool {
	open := g.among()
	if len(open) == 0 {
		return false
	}
	own := depth()
	if own == 0 {
		return false
	}
	for began := time.Now(); ; {
		ours := 0
		for _, w := range open {
			if w.guard == g {
				ours++
			}
		}
		switch {
		case ours == 0:
			return false
		case ours == len(open), len(open) <= own: // all remaining ones are the caller's
			return true
		case time.Since(began) >= patience:
			return true
		}
		time.Sleep(recheck)
		open = still(open)
	}
}

// among returns all running writes, if any of them is the guard's.
func (g *Guard) among() []write {
	writes.mu.Lock()
	defer writes.mu.Unlock()
	if !slices.ContainsFunc(writes.open, func(w write) bool { return w.guard == g }) {
		return nil
	}
	return slices.Clone(writes.open)
}

// still returns the writes that have not ended.
func still(before []write) []write {
	writes.mu.Lock()
	defer writes.mu.Unlock()
	return slices.DeleteFunc(before, func(w write) bool { return !slices.Contains(writes.open, w) })
}

// code is the return address into the frames of Run.
var code = sync.OnceValue(func() (c struct {
	name       string
	begin, end uintptr
}) {
	c.begin = reflect.ValueOf((*Guard).Run).Pointer()
	fn := runtime.FuncForPC(c.begin)
	c.name, c.end = fn.Name(), c.begin
	for f := fn; f != nil && f.Entry() == fn.Entry(); f = runtime.FuncForPC(c.end) {
		c.end++
	}
	return c
})

// depth returns the number of writes that the caller's goroutine is inside.
func depth() (found int) {
	var pcs [64]uintptr
	run := code()
	for skip := 1; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return found
		}
		// Most stacks have none, and looking up names takes longer than comparing addresses.
		if slices.ContainsFunc(pcs[:n], func(pc uintptr) bool { return run.begin < pc && pc <= run.end }) {
			found += named(pcs[:n], run.name)
		}
	}
}

// named counts the frames of the function. One address may stand for several if the compiler has inlined calls.
func named(pcs []uintptr, name string) (found int) {
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		if frame.Function == name {
			found++
		}
		if !more {
			return found
		}
	}
}
