package queue_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A tenant has a file, a queue and a dispatcher of its own.
type tenant struct {
	db *sqlite.DB
	q  *queue.Queue
}

// held is what this process holds and has used.
type held struct {
	memory, files, goroutines float64
	cpu                       time.Duration
}

func holds(b *testing.B) (u held) {
	b.Helper()
	runtime.GC()
	var total, resident float64
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	_, err = fmt.Sscan(string(statm), &total, &resident)
	require.NoError(b, err)
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(b, err)
	u = held{memory: resident * float64(os.Getpagesize()), files: float64(len(open)),
		goroutines: float64(runtime.NumGoroutine())}
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u
}

// An operation is a tenant: its file is made and opened, opened again, idle for a while, and then has one job, all
// tenants at once. Run it with -benchtime 1000x.
func BenchmarkTenants(b *testing.B) {
	folder := b.TempDir()
	path := func(i int) string { return filepath.Join(folder, fmt.Sprintf("%d.db", i)) }
	open := func(i int) *sqlite.DB {
		db, err := sqlite.Open(b.Context(), path(i),
			&sqlite.Config{Durability: sqlite.Normal, SingleProcess: true, Readers: 1})
		require.NoError(b, err)
		require.NoError(b, queue.Migrate(b.Context(), db))
		return db
	}
	each := func(metric string, fn func(i int)) {
		began := time.Now()
		for i := range b.N {
			fn(i)
		}
		b.ReportMetric(time.Since(began).Seconds()*1000/float64(b.N), metric)
	}
	each("ms/made", func(i int) { require.NoError(b, open(i).Close()) })
	before := holds(b)
	tenants := make([]tenant, b.N)
	var ran, stopped sync.WaitGroup
	ctx, stop := context.WithCancel(b.Context())
	each("ms/opened", func(i int) {
		t := &tenants[i]
		t.db = open(i)
		var err error
		t.q, err = queue.New(t.db, nil)
		require.NoError(b, err)
		d, err := queue.NewDispatcher(t.q, &queue.DispatcherConfig{Workers: 2, PollInterval: time.Minute})
		require.NoError(b, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { ran.Done(); return nil })
		stopped.Go(func() { _ = d.Run(ctx) })
	})
	time.Sleep(30 * time.Second) // until what each does when it begins is done
	idle := holds(b)
	n := float64(b.N)
	b.ReportMetric((idle.memory-before.memory)/1024/n, "KiB/tenant")
	b.ReportMetric((idle.files-before.files)/n, "files/tenant")
	b.ReportMetric((idle.goroutines-before.goroutines)/n, "goroutines/tenant")
	const pause = time.Minute
	time.Sleep(pause)
	b.ReportMetric(float64(holds(b).cpu-idle.cpu)/float64(pause)*100, "%CPU-idle")

	ran.Add(b.N)
	began := time.Now()
	each("ms/enqueued", func(i int) {
		_, err := tenants[i].q.Enqueue(b.Context(), ping.New(i, nil))
		require.NoError(b, err)
	})
	ran.Wait()
	b.ReportMetric(n/time.Since(began).Seconds(), "jobs/s")
	began = time.Now()
	stop()
	stopped.Wait()
	each("ms/closed", func(i int) { require.NoError(b, tenants[i].db.Close()) })
	b.ReportMetric(time.Since(began).Seconds()*1000/n, "ms/stopped")
}
