package sqlite_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/jobtree"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A trouble comes over a database under load, and goes again.
type trouble struct {
	folder string
	says   string // the error of a write meanwhile
	begin  func(db *sqlite.DB)
	end    func(db *sqlite.DB)
}

// asRoot runs a program of the system, and skips the test where that is not allowed.
func asRoot(t *testing.T, name string, args ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skipf("this test is left out: only root may run %s", name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("this test is left out: %s %v: %v: %s", name, args, err, out)
	}
}

// codes are what the libraries add to an error of SQLite: numbers and names, or the error of the system.
var codes = regexp.MustCompile(` \(\d+\)(?: \(SQLITE_\w+\))?|: operation not permitted`)

// said returns the text of an error without codes.
func said(err error) string {
	if err == nil {
		return ""
	}
	return codes.ReplaceAllString(err.Error(), "")
}

// fullDisk is a file system of its own, and a file that takes all that is left of it.
func fullDisk(t *testing.T) trouble {
	folder := t.TempDir()
	asRoot(t, "mount", "-t", "tmpfs", "-o", "size=24m", "postroom-test", folder)
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", folder).Run()) })
	ballast := filepath.Join(folder, "ballast")
	return trouble{
		folder: folder,
		says:   "database or disk is full (file:" + filepath.Join(folder, "test.db") + ": make room on its disk)",
		begin: func(*sqlite.DB) {
			file, err := os.Create(ballast)
			require.NoError(t, err)
			for block := make([]byte, 4096); err == nil; {
				_, err = file.Write(block)
			}
			require.NoError(t, file.Close())
		},
		end: func(*sqlite.DB) { require.NoError(t, os.Remove(ballast)) },
	}
}

// fullFile keeps the file from growing, which needs no rights: SQLite fails as it does when the disk is full.
func fullFile(t *testing.T) trouble {
	pages := func(db *sqlite.DB, most int) {
		set := func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprint("PRAGMA max_page_count = ", most))
			return err
		}
		for driver.Write(context.Background(), db, set) != nil {
			continue // it has shared a transaction that failed
		}
	}
	return trouble{
		folder: t.TempDir(), says: "database or disk is full",
		begin: func(db *sqlite.DB) { pages(db, 1) },
		end:   func(db *sqlite.DB) { pages(db, 1<<30) },
	}
}

// readOnly takes the right to write from the file system's owner, too: the log is open, and refuses all the same.
func readOnly(t *testing.T) trouble {
	folder := t.TempDir()
	probe := filepath.Join(folder, "probe")
	require.NoError(t, os.WriteFile(probe, nil, 0o600))
	asRoot(t, "chattr", "+i", probe)
	asRoot(t, "chattr", "-i", probe)
	log := filepath.Join(folder, "test.db-wal")
	t.Cleanup(func() { _ = exec.Command("chattr", "-i", log).Run() })
	return trouble{
		folder: folder,
		says: "disk I/O error (file:" + filepath.Join(folder, "test.db") +
			": see what its disk and the system's log say)",
		begin: func(*sqlite.DB) { require.NoError(t, exec.Command("chattr", "+i", log).Run()) },
		end:   func(*sqlite.DB) { require.NoError(t, exec.Command("chattr", "-i", log).Run()) },
	}
}

// While nothing can be written, writes fail and say why; afterwards the same dispatcher goes on and finishes
// everything.
func TestDiskThatRefusesUnderLoadLosesAndDoublesNothing(t *testing.T) {
	for name, makeTrouble := range map[string]func(*testing.T) trouble{"full": fullDisk, "full file": fullFile,
		"read-only": readOnly} {
		t.Run(name, func(t *testing.T) { troubled(t, makeTrouble(t)) })
	}
}

func writeMegabyte(db *sqlite.DB) error {
	return driver.Write(context.Background(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO effects (name) VALUES (zeroblob(1000000))")
		return err
	})
}

func troubled(t *testing.T, trouble trouble) {
	db, err := sqlite.Open(t.Context(), filepath.Join(trouble.folder, "test.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	f, err := jobtree.Open(t.Context(), db)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(f.Queue, &queue.DispatcherConfig{Lease: time.Second,
		PollInterval: 20 * time.Millisecond})
	require.NoError(t, err)
	var grown atomic.Int64
	growing := make(chan struct{}, 1)
	f.Handle(d, func(string) {
		grown.Add(1)
		select {
		case growing <- struct{}{}:
		default:
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	stopped := sync.OnceValue(func() error {
		stop()
		return <-ended
	})
	defer func() { require.NoError(t, stopped()) }()

	var planted []string
	plant := func() error {
		root := fmt.Sprint("tree", len(planted))
		err := f.Plant(t.Context(), root)
		if err == nil {
			planted = append(planted, root)
		}
		return err
	}
	for range 3 {
		require.NoError(t, plant())
		for before := grown.Load(); grown.Load() < before+10; {
			<-growing
		}
		trouble.begin(db)
		for range 4 {
			require.Contains(t, said(writeMegabyte(db)), trouble.says)
			if err := plant(); err != nil { // it may still find room in a page
				require.Contains(t, said(err), trouble.says)
			}
		}
		trouble.end(db)
		require.NoError(t, plant(), "there is room again")
	}
	require.NoError(t, f.Finish(t.Context(), &queue.DispatcherConfig{Workers: 1, Lease: time.Second}))
	require.NoError(t, stopped(), "the dispatcher has gone on by itself")
	f.RequireWhole(t, planted)
	requireSound(t, db)
}

// Reading goes on as before: who only reads would find nothing wrong.
func TestDoctorFindsThatTheDiskIsFull(t *testing.T) {
	trouble := fullDisk(t)
	db, err := sqlite.Open(t.Context(), filepath.Join(trouble.folder, "test.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	says := func() string {
		findings, err := db.Driver().(driver.HealthChecker).CheckHealth(t.Context())
		require.NoError(t, err)
		return fmt.Sprint(findings)
	}
	require.Regexp(t, `warning: the disk of .*test.db has \d+ MB left`, says())
	trouble.begin(db)
	require.Regexp(t, `problem: the disk of .*test.db is full`, says())
}

// A dispatcher that starts when nothing can be written does what one does that runs already: it tries again.
func TestDispatcherThatStartsOnAFullDiskRecovers(t *testing.T) {
	trouble := fullDisk(t)
	db, err := sqlite.Open(t.Context(), filepath.Join(trouble.folder, "test.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	q := trapQueue(t, db)
	const greet queue.Type[int] = "greet"
	_, err = q.Enqueue(t.Context(), greet.New(1, nil))
	require.NoError(t, err)
	trouble.begin(db)
	_, err = q.Enqueue(t.Context(), greet.New(2, nil))
	require.Contains(t, said(err), trouble.says)

	for _, exclusive := range []bool{true, false} {
		refused, ran := make(chan string, 100), make(chan int, 1)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond,
			Exclusive: exclusive, Logger: slog.New(heard{refused})})
		require.NoError(t, err)
		queue.Handle(d, greet, func(_ context.Context, w *queue.Work[int]) error {
			ran <- w.Payload
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		for line := ""; !strings.Contains(line, "claiming jobs failed"); {
			select {
			case line = <-refused:
			case err := <-ended:
				t.Fatalf("it has ended: %v", err)
			}
		}
		trouble.end(db)
		require.Equal(t, 1, <-ran)
		stop()
		require.NoError(t, <-ended)
		_, err = q.Enqueue(t.Context(), greet.New(1, nil))
		require.NoError(t, err)
		trouble.begin(db)
	}
	trouble.end(db)
}

// heard passes on the messages of log lines while there is room for them.
type heard struct{ messages chan<- string }

func (h heard) Enabled(context.Context, slog.Level) bool { return true }
func (h heard) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h heard) WithGroup(string) slog.Handler            { return h }
func (h heard) Handle(_ context.Context, r slog.Record) error {
	select {
	case h.messages <- r.Message:
	default:
	}
	return nil
}

// A file that may only be read is refused when it is opened, and not at the first write.
func TestOpenOfAReadOnlyFileSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := sqlite.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Close())
	if os.Getuid() == 0 { // whom permissions do not keep out
		asRoot(t, "chattr", "+i", path)
		t.Cleanup(func() { require.NoError(t, exec.Command("chattr", "-i", path).Run()) })
	} else {
		require.NoError(t, os.Chmod(path, 0o400))
	}
	_, err = sqlite.Open(t.Context(), path, nil)
	require.Equal(t, "sqlite: open file:"+path+
		": attempt to write a readonly database (the queue writes: let this program write the file and its folder)", said(err))
}
