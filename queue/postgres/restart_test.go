package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/jobtree"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A tally counts what each machine has grown.
type tally struct {
	mu    sync.Mutex
	moved *sync.Cond
	grown [2]int
	over  bool // nobody waits any more
}

func newTally() *tally {
	c := &tally{}
	c.moved = sync.NewCond(&c.mu)
	return c
}

func (c *tally) add(machine int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grown[machine]++
	c.moved.Broadcast()
}

// wait returns when every machine has grown so many more than now.
func (c *tally) wait(more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.grown
	for c.grown[0] < before[0]+more || c.grown[1] < before[1]+more {
		c.moved.Wait()
	}
}

func (c *tally) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grown[0] + c.grown[1]
}

// waitTotal returns true when the machines have grown so many together, false when it is over.
func (c *tally) waitTotal(grown int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.over && c.grown[0]+c.grown[1] < grown {
		c.moved.Wait()
	}
	return !c.over
}

func (c *tally) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.moved.Broadcast()
}

// startMachine is a connection pool and a dispatcher of its own.
func startMachine(t *testing.T, dsn string, grown func()) (stop func()) {
	t.Helper()
	db, f := openMachine(t, dsn)
	d, err := queue.NewDispatcher(f.Queue, &queue.DispatcherConfig{Lease: 2 * time.Second,
		PollInterval: 50 * time.Millisecond})
	require.NoError(t, err)
	f.Handle(d, func(string) { grown() })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, db.Close())
	}
}

func openMachine(t *testing.T, dsn string) (*postgres.DB, *jobtree.Workload) {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	f, err := jobtree.Open(t.Context(), db)
	require.NoError(t, err)
	return db, f
}

// The server goes down under load and comes back, again and again. Programs that enqueue try again; dispatchers go on
// by themselves.
func TestServerThatGoesDownUnderLoadLosesAndDoublesNothing(t *testing.T) {
	for _, how := range []dbtest.Shutdown{dbtest.Fast, dbtest.Immediate} {
		t.Run(string(how), func(t *testing.T) { goDownUnderLoad(t, how) })
	}
}

func goDownUnderLoad(t *testing.T, how dbtest.Shutdown) {
	const times = 5
	cluster := dbtest.NewCluster(t)
	db, f := openMachine(t, cluster.DSN())
	defer func() { require.NoError(t, db.Close()) }()
	grown := newTally()
	first := startMachine(t, cluster.DSN(), func() { grown.add(0) })
	second := startMachine(t, cluster.DSN(), func() { grown.add(1) })

	var planted []string
	refused := 0
	var planter sync.WaitGroup
	planter.Go(func() {
		// A quarter of the tree that was planted last, whoever grows it: one machine may take all that is there.
		for before := 0; len(planted) < 4 || grown.waitTotal(before+jobtree.TreeSize/4); {
			before = grown.total()
			root := fmt.Sprint("tree", len(planted))
			for f.Plant(context.Background(), root) != nil {
				refused++
			}
			planted = append(planted, root)
		}
	})
	for range times {
		grown.wait(10)
		cluster.Restart(t, how)
	}
	grown.wait(10) // both go on
	grown.end()
	planter.Wait()
	require.NoError(t, f.Finish(t.Context(), &queue.DispatcherConfig{Lease: 2 * time.Second}))
	first()
	second()
	f.RequireWhole(t, planted)
	t.Logf("the server went down %d times; %d trees were planted, %d times in vain", times, len(planted), refused)
}

// A dispatcher that would not look again for an hour hears of other machines' jobs once the server is back.
func TestListenersHearAgainAfterARestart(t *testing.T) {
	cluster := dbtest.NewCluster(t)
	db, enqueuer := openMachine(t, cluster.DSN())
	defer func() { require.NoError(t, db.Close()) }()
	other, f := openMachine(t, cluster.DSN())
	defer func() { require.NoError(t, other.Close()) }()
	listening, grown := make(chan struct{}, 100), make(chan string, jobtree.TreeSize)
	d, err := queue.NewDispatcher(f.Queue, &queue.DispatcherConfig{PollInterval: time.Hour})
	require.NoError(t, err)
	f.Handle(d, func(name string) { grown <- name })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- d.Run(ctx) }()
	// Both listen again after the same pause.
	go func() { ended <- other.Driver().Listen(ctx, func() { listening <- struct{}{} }) }()
	<-listening
	plant := func(root string) {
		for enqueuer.Plant(t.Context(), root) != nil {
			continue // on a connection that is lost
		}
		for range jobtree.TreeSize {
			<-grown
		}
	}
	plant("first")
	for _, how := range []dbtest.Shutdown{dbtest.Fast, dbtest.Immediate} {
		drainWakes(listening)
		cluster.Restart(t, how)
		<-listening
		plant(string(how))
	}
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}
