package sqlite

import (
	"context"
	"sync"

	"github.com/postroom-go/postroom/queue"
)

// wakers are the listeners of this process. The writer's watch wakes them for other processes, too.
type wakers struct {
	// switching keeps the watch on exactly while somebody listens.
	switching sync.Mutex

	mu    sync.Mutex
	next  int
	funcs map[int]func()
}

// Notify implements [queue.Waker].
func (db *DB) Notify(_ context.Context, tx *queue.Tx) error {
	tx.OnCommit(db.wakers.wake)
	return nil
}

// Listen implements [queue.Waker].
func (db *DB) Listen(ctx context.Context, wake func()) error {
	id := db.listener(wake)
	defer db.unlisten(id)
	wake()
	<-ctx.Done()
	return nil
}

func (db *DB) listener(wake func()) (id int) {
	db.wakers.switching.Lock()
	defer db.wakers.switching.Unlock()
	id, first := db.wakers.add(wake)
	if first {
		db.writer.setWatching(true)
	}
	return id
}

func (db *DB) unlisten(id int) {
	db.wakers.switching.Lock()
	defer db.wakers.switching.Unlock()
	if last := db.wakers.remove(id); last {
		db.writer.setWatching(false)
	}
}

func (w *wakers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fn := range w.funcs {
		fn()
	}
}

func (w *wakers) add(fn func()) (id int, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.funcs == nil {
		w.funcs = make(map[int]func())
	}
	w.next++
	w.funcs[w.next] = fn
	return w.next, len(w.funcs) == 1
}

func (w *wakers) remove(id int) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.funcs, id)
	return len(w.funcs) == 0
}
