package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// asGmail makes the test binary be a Gmail on the mailbox in the folder that it names, until its standard input ends:
// so the time that it takes is not that of postroomd.
const asGmail = "TEST_AS_GMAIL"

func serveGmail(dir string) {
	server, err := gmailtest.Open(context.Background(), gmailtest.Config{Dir: dir, Email: sample.Owner})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(server.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	os.Exit(0)
}

// startGmail returns the address of a Gmail in a process of its own, and what stops it and returns the time that it
// took.
func startGmail(b *testing.B, dir string) (url string, stop func() time.Duration) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), asGmail+"="+dir), os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	url, err = bufio.NewReader(stdout).ReadString('\n')
	require.NoError(b, err)
	return strings.TrimSpace(url), func() time.Duration {
		require.NoError(b, stdin.Close())
		require.NoError(b, cmd.Wait())
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

// copies is a mailbox of n messages: the letters over and over, received now if fresh.
type copies struct {
	letters []mailbox.Message
	n       int
	fresh   bool
}

func (c copies) Name() string { return "copies" }

func (c copies) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for i := range c.n {
			m := c.letters[i%len(c.letters)]
			m.Position, m.Name = i+1, fmt.Sprintf("%d.eml", i)
			if c.fresh {
				m.Received = time.Now()
			}
			m.Raw = append(fmt.Appendf(nil, "X-Copy: %d\r\n", i), bytes.Clone(m.Raw)...)
			if !yield(m, nil) {
				return
			}
		}
	}
}

// sampleLetters are the messages of the sample that rules decide about.
func sampleLetters(b testing.TB) (letters []mailbox.Message) {
	b.Helper()
	for m, err := range sample.Mailbox().Messages() {
		require.NoError(b, err)
		undecided := func(l string) bool {
			return slices.Contains([]string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}, l)
		}
		if len(m.Raw) <= 16<<10 && !slices.ContainsFunc(m.Labels, undecided) {
			letters = append(letters, m)
		}
	}
	return letters
}

// corpusLetters are the real mails of the corpora that have 1 to 64 KiB.
func corpusLetters(b *testing.B) (letters []mailbox.Message) {
	b.Helper()
	for _, folder := range []string{"01-mime-parse", "05-spam-news"} {
		root := corpora.Path(folder)
		if _, err := os.Stat(root); err != nil {
			b.Skip("there is no real mail: ", err)
		}
		require.NoError(b, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err == nil && len(raw) >= 1<<10 && len(raw) <= 64<<10 {
				letters = append(letters, mailbox.Message{Raw: raw, Labels: []string{postroom.LabelInbox, postroom.LabelUnread}})
			}
			return err
		}))
	}
	return letters
}

// resources are what this process has used of the machine.
type resources struct {
	cpu     time.Duration
	written int64 // bytes, to the disk
}

func used(b *testing.B) resources {
	b.Helper()
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	u := resources{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano())}
	if text, err := os.ReadFile("/proc/self/io"); err == nil {
		_, after, _ := strings.Cut(string(text), "\nwrite_bytes: ")
		_, _ = fmt.Sscan(after, &u.written)
	}
	return u
}

func sizeOf(b *testing.B, file string) int64 {
	b.Helper()
	info, err := os.Stat(file)
	require.NoError(b, err)
	return info.Size()
}

// BenchmarkPipeline takes in b.N messages that have arrived, and does with each what the rules of the demo decide.
// The Gmail is another process; its time is reported beside ours.
func BenchmarkPipeline(b *testing.B) {
	b.Run("sample", func(b *testing.B) { benchPipeline(b, sampleLetters(b)) })
	b.Run("corpus", func(b *testing.B) { benchPipeline(b, corpusLetters(b)) })
}

func benchPipeline(b *testing.B, letters []mailbox.Message) {
	collectLess()
	dir := environment.Folder(b.TempDir())
	url, stop := startGmail(b, dir.Gmail())
	h := benchHost(b, dir, url, 0)
	file, err := rulesfile.ParseFile("../config/rules.yaml", rulesfile.WithKinds(environment.Kinds))
	require.NoError(b, err)
	run := app.NewOneRun(h, file, printer.NewProgress(io.Discard))
	require.NoError(b, run.Run(b.Context()))
	require.Empty(b, run.Faults)
	deliver(b, dir, letters, b.N)
	size, before := sizeOf(b, h.Env.Database()), used(b)

	b.ResetTimer()
	_, err = h.Queue.Enqueue(b.Context(), gmail.NewHistorySyncJob(run.Mailboxes[0], 0))
	require.NoError(b, err)
	require.NoError(b, h.RunJobs(b.Context()))
	b.StopTimer()

	after := used(b)
	s, err := view.NewSummary(b.Context(), run, nil)
	require.NoError(b, err)
	require.Equal(b, b.N, s.Messages)
	require.Zero(b, s.Failed+s.Jobs[queue.StateFailed])
	require.NotEmpty(b, s.Actions, "nothing was done")
	require.NoError(b, h.Close())
	each := func(n float64, unit string) { b.ReportMetric(n/float64(b.N), unit) }
	each(float64((after.cpu - before.cpu).Microseconds()), "cpu-µs/msg")
	each(float64(stop().Microseconds()), "gmail-cpu-µs/msg")
	each(float64(after.written-before.written), "written-B/msg")
	each(float64(sizeOf(b, h.Env.Database())-size), "stored-B/msg")
	each(float64(s.Jobs[queue.StateCompleted]), "jobs/msg")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// benchHost spends so many units of quota in a minute; 0 sets no limit.
func benchHost(b *testing.B, dir environment.Folder, url string, perMinute int) *app.App {
	b.Helper()
	cfg := config.Default()
	cfg.App.Workers = 64
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: url, SpamAndTrash: true,
		UnitsPerMinute: perMinute}
	s := &environment.Environment{Folder: dir, Config: cfg}
	require.NoError(b, s.Prepare())
	h, err := app.New(b.Context(), app.Config{Environment: s})
	require.NoError(b, err)
	_, err = h.OpenConfiguredAccount(b.Context())
	require.NoError(b, err)
	return h
}

// deliver puts messages into the mailbox behind the back of the process that serves it.
func deliver(b *testing.B, dir environment.Folder, letters []mailbox.Message, n int) {
	b.Helper()
	server, err := gmailtest.Open(b.Context(), gmailtest.Config{Dir: dir.Gmail(), Email: sample.Owner})
	require.NoError(b, err)
	added, err := server.Import(b.Context(), copies{letters, n, true}, func(int) {})
	require.NoError(b, err)
	require.Equal(b, n, added)
	require.NoError(b, server.Close())
}
