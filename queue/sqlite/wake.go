package sqlite

import (
	"context"
	"sync"

	"github.com/postroom-go/postroom/queue/driver"
)

// wakers are the listeners of this process. The watch wakes them for other processes, too.
type wakers struct {
	mu    sync.Mutex
	next  int
	funcs map[int]func()
}

// Notify implements [driver.Notifier].
func (db *engine) Notify(_ context.Context, tx *driver.WriteTx) error {
	tx.OnCommit(db.wakers.wake)
	return nil
}

// Listen implements [driver.Notifier].
func (db *engine) Listen(ctx context.Context, wake func()) error {
	remove := db.wakers.add(wake)
	defer remove()
	wake()
	if db.watched {
		// If the system has no more watches, polling finds the jobs of other processes.
		_ = db.watch(ctx)
	}
	<-ctx.Done()
	return nil
}

func (w *wakers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fn := range w.funcs {
		fn()
	}
}

func (w *wakers) add(fn func()) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.funcs == nil {
		w.funcs = make(map[int]func())
	}
	w.next++
	id := w.next
	w.funcs[id] = fn
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.funcs, id)
	}
}
