package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// Notifications about possible jobs go directly to the listeners of the same process, and to those of others by NOTIFY,
// on a separate connection and after the commit. A transaction with NOTIFY holds a lock of the whole server while it
// commits, so that no two could share a flush to the disk.
type news struct {
	self  string                  // the sender: a listener of this process has been woken already
	send  func(self string) error // to the other processes
	fresh chan struct{}
	stop  context.CancelFunc
	ended chan struct{}

	mu        sync.Mutex
	next      int
	listeners map[int]func()
}

func startNews(send func(self string) error) *news {
	ctx, stop := context.WithCancel(context.Background())
	n := &news{
		self: uuid.NewString(), send: send, fresh: make(chan struct{}, 1), stop: stop, ended: make(chan struct{}),
		listeners: make(map[int]func()),
	}
	go n.run(ctx)
	return n
}

// Notify implements [driver.Notifier].
func (db *engine) Notify(ctx context.Context, tx *driver.WriteTx) error {
	if _, ok := tx.Tx.(*transaction); ok {
		tx.OnCommit(db.news.tell)
		return nil
	}
	// The notification comes with the commit, to those who listen: nobody does behind a pooler.
	tx.OnCommit(db.news.wake)
	return later(ctx, tx, notify, "")
}

func (n *news) tell() {
	n.wake()
	n.freshen()
}

// freshen never blocks. Notifications while one waits to be sent are merged with it.
func (n *news) freshen() {
	select {
	case n.fresh <- struct{}{}:
	default:
	}
}

func (n *news) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, fn := range n.listeners {
		fn()
	}
}

func (n *news) add(fn func()) (remove func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	id := n.next
	n.listeners[id] = fn
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, id)
	}
}

// notifyPause is the interval between two notifications: those in between are merged with the second.
const notifyPause = 5 * time.Millisecond

// run notifies other processes until it is stopped, and then sends the remaining notification. A failed notification is
// sent again, at growing intervals: after a restart of the server every connection of the pool may be lost.
func (n *news) run(ctx context.Context) {
	defer close(n.ended)
	pause := notifyPause
	for ctx.Err() == nil {
		select {
		case <-n.fresh:
		case <-ctx.Done():
			return
		}
		if err := n.send(n.self); err == nil {
			pause = notifyPause
		} else if ctx.Err() == nil {
			n.freshen()
			pause = min(2*pause, reconnectAfter)
		}
		rest := time.NewTimer(pause)
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
		}
	}
}

// notifyTimeout is the timeout for a server that has silently disappeared.
const notifyTimeout = 5 * time.Second

// notify sends a notification.
func (db *engine) notify(self string) error {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	return db.exec(ctx, notifyAlone, self)
}

// close returns when the last notification has been sent, or its first attempt has failed: dispatchers poll as well.
func (n *news) close() {
	n.stop()
	<-n.ended
	select {
	case <-n.fresh:
		_ = n.send(n.self)
	default:
	}
}

// reconnectAfter is the pause before a lost connection is replaced; dispatchers poll meanwhile.
const reconnectAfter = time.Second

// Listen implements [driver.Notifier] on a separate connection, which it replaces when it is lost. With [Config].Pooled
// it gets only notifications of this process.
func (db *engine) Listen(ctx context.Context, wake func()) error {
	defer db.news.add(wake)()
	if db.pooled {
		wake()
		<-ctx.Done()
		return nil
	}
	for {
		// The reason for the loss does not matter: dispatchers poll, and Listen retries.
		_ = db.listen(ctx, wake)
		timer := time.NewTimer(reconnectAfter)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// listenProbe is how often a listening connection is asked whether it still leads to a server.
const listenProbe = time.Minute

// waitForNotification returns nil when none has come for a while, and the connection is alive.
func (db *engine) waitForNotification(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, db.probe)
	defer cancel()
	heard, err := conn.WaitForNotification(waiting)
	if err == nil || waiting.Err() == nil || ctx.Err() != nil {
		return heard, err
	}
	return nil, db.subscribe(ctx, conn)
}

// subscribe returns an error if the server does not answer soon: one that has silently disappeared never does.
func (db *engine) subscribe(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, min(db.probe, notifyTimeout))
	defer cancel()
	_, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{naming.Literal(db.Names(), channel)}.Sanitize())
	return err
}

func (db *engine) listen(ctx context.Context, wake func()) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// It has a subscription and must not go back to the pool.
	own := conn.Hijack()
	defer own.Close(context.WithoutCancel(ctx))
	if err := db.subscribe(ctx, own); err != nil {
		return err
	}
	// Earlier notifications were missed.
	wake()
	for {
		heard, err := db.waitForNotification(ctx, own)
		if err != nil {
			return err
		}
		if heard == nil {
			continue
		}
		if heard.Payload != db.news.self {
			wake()
		}
	}
}
