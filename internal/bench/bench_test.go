package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMedianAndPercentiles(t *testing.T) {
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	require.InDelta(t, 50, percentile(hundred, 50), 0)
	require.InDelta(t, 99, percentile(hundred, 99), 0)
	require.InDelta(t, 7, percentile([]float64{7}, 99), 0)
}

func TestNumbersAreRoundedForPeople(t *testing.T) {
	require.Equal(t, "1,230,000", round3(1_234_567))
	require.Equal(t, "123", round3(123.4))
	require.Equal(t, "12.3", round3(12.34))
	require.Equal(t, "0.57", round2(0.5678))
	require.Equal(t, "1,000", count(1000))
	require.Equal(t, "999", count(999))
}

// Ratios say by how much ours is better, whichever way better is.
func TestRatiosAreAboveOneWhereOursIsBetter(t *testing.T) {
	drain, start := Workload{Name: "drain"}, Workload{Name: "latency", Latency: startLatency}
	figure := func(rate, p50, p99 float64) Figure {
		return Figure{Rate: rate, Latencies: map[string]Percentiles{startLatency: {p50, p50, p99, 0}}}
	}
	fast := found{cell: &cell{}, figure: figure(200, 200, 400)}
	slow := found{cell: &cell{}, figure: figure(100, 100, 100)}
	require.Equal(t, "2.00", ratio(drain, fast, slow))
	require.Equal(t, "2.00 / 4.00", ratio(start, slow, fast))
	require.Equal(t, "–", ratio(drain, fast, found{}))
}

func rates(values ...float64) []Figure {
	var figures []Figure
	for _, v := range values {
		figures = append(figures, Figure{Rate: v})
	}
	return figures
}

func TestTheBetterVariantAndTheBestPeerAreShown(t *testing.T) {
	w := Workload{Name: "drain", Title: "drain"}
	b := &bench{engines: engines("", ""), workloads: []Workload{w}, contenders: []Contender{
		{Engine: "sqlite", Name: rawName}, {Engine: "sqlite", Name: rawLargeName}, {Engine: "sqlite", Name: ourName},
		{Engine: "sqlite", Name: "slow", Peer: true},
		{Engine: "sqlite", Name: "quick", Variant: "10 workers", Peer: true}, {Engine: "sqlite", Name: "quick", Variant: "99 workers", Peer: true},
	}}
	for _, c := range []struct {
		name, variant string
		rounds        []Figure
	}{
		{rawName, "", rates(300, 100, 200)}, {rawLargeName, "", rates(400, 400, 1)},
		{ourName, "", rates(100)}, {"slow", "", rates(10)},
		{"quick", "10 workers", rates(30, 10, 20)}, {"quick", "99 workers", rates(50, 50, 1)},
	} {
		b.cells = append(b.cells, &cell{Engine: "sqlite", Durability: Full, Workload: "drain", Contender: c.name, Variant: c.variant, Rounds: c.rounds})
	}
	require.Equal(t, `| SQLite | drain |
| --- | --- |
| raw | 200 |
| raw, by 1,000 | 400 |
| postroom | 100 |
| slow | 10.0 |
| quick | 50.0 (99 workers) |
| **postroom ÷ raw** | 0.50 |
| **postroom ÷ raw, by 1,000** | 0.25 |
| **postroom ÷ best peer** | 2.00 (quick) |
`, b.table("sqlite", Full, "SQLite"))
}

// A contender that loses jobs, or whose handlers do not run, gets no figure.
func TestWorkThatWasNotDoneDoesNotCount(t *testing.T) {
	_, err := drain(t.Context(), &fakeQueue{unfinished: 10, runs: 10, finishes: 9}, 10, 0)
	require.ErrorContains(t, err, "10 ran and 9 are done")
	_, err = drain(t.Context(), &fakeQueue{unfinished: 10, runs: 5, finishes: 10}, 10, time.Hour)
	require.ErrorContains(t, err, "5 ran and 10 are done")
	_, err = enqueueFrom(1)(t.Context(), &fakeQueue{loses: true}, quickSize())
	require.ErrorContains(t, err, "100 jobs were enqueued, but 0 are there")
	figure, err := drain(t.Context(), &fakeQueue{unfinished: 10, runs: 10, finishes: 10}, 10, 0)
	require.NoError(t, err)
	require.Positive(t, figure.Rate)
	_, err = drain(t.Context(), &fakeQueue{unfinished: 12, runs: 12, finishes: 12}, 10, 0)
	require.NoError(t, err, "two were left when an earlier measurement was cut short")
	_, err = drain(t.Context(), &fakeQueue{unfinished: 10, runs: 11, finishes: 10}, 10, 0)
	require.ErrorContains(t, err, "11 ran and 10 are done")
}

func TestTogetherStopsAtAnErrorAndAtItsLimit(t *testing.T) {
	boom := errors.New("boom")
	_, err := together(4, 1000, 0, func(int) error { return boom })
	require.ErrorIs(t, err, boom)
	n, err := together(1, 1_000_000_000, time.Microsecond, func(int) error { return nil })
	require.NoError(t, err)
	require.Less(t, n, 1_000_000_000)
}

func TestAnExpressionThatMatchesNobodyIsAnError(t *testing.T) {
	b := &bench{engines: engines(t.TempDir(), ""), dir: t.TempDir(), rounds: 1, size: quickSize()}
	_, err := b.run(t.Context(), "^nobody$", "")
	require.ErrorContains(t, err, "sqlite/postroom")
}

// The whole program, on the engine that needs no server.
func TestAQuickRunFillsTheReport(t *testing.T) {
	b := &bench{engines: engines(t.TempDir(), ""), dir: t.TempDir(), rounds: 2, size: quickSize()}
	text, err := b.run(t.Context(), "^sqlite/(raw|postroom)", "^(enqueue|drain|write|mixed|paced|latency|claim|limits)")
	require.NoError(t, err)
	require.Empty(t, b.failures)
	require.Contains(t, text, "| SQLite, synchronous = FULL | enqueue, 1 goroutine |")
	require.Regexp(t, regexp.MustCompile(`\*\*postroom ÷ raw\*\*( \| [0-9.]+){7} \| [0-9.]+ / [0-9.]+ \|`), text)
	require.Contains(t, text, "| SQLite | 2,000 finished jobs |")
	require.Contains(t, text, "| SQLite | no limits | 10 | 10.0 |")
	require.Contains(t, text, "| SQLite | keys below their limit | 10 | 10.0 |")
}

func TestAnInterruptedRunReportsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := engines(t.TempDir(), Normal)
	all["sqlite"] = &cancelingEngine{Engine: all["sqlite"], cancel: cancel}
	b := &bench{engines: all, dir: t.TempDir(), rounds: 2, size: quickSize()}
	text, err := b.run(ctx, "^sqlite/(raw|postroom)$", "^(enqueue-1|drain)$")
	require.NoError(t, err)
	require.Len(t, b.cells, 1)
	require.Contains(t, text, "- the run was interrupted: what is missing above was not measured")
	require.Error(t, b.failed(false))
}

// A cancelingEngine interrupts the run at the second store that it makes.
type cancelingEngine struct {
	Engine

	cancel func()
	made   int
}

func (e *cancelingEngine) Make(ctx context.Context) (Place, func() error, error) {
	if e.made++; e.made == 2 {
		e.cancel()
	}
	return e.Engine.Make(ctx)
}

func TestAReportKeepsWhatOthersMeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.md")
	require.NoError(t, writeReport(path, "# first\n"))
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# first\n", string(first))

	require.NoError(t, os.WriteFile(path, append(first, keptFrom+"\n## Mail\n"...), 0o600))
	for _, text := range []string{"# second\n", "# third"} {
		require.NoError(t, writeReport(path, text))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(text)+"\n\n"+keptFrom+"\n## Mail\n", string(got))
	}
	require.ErrorContains(t, writeReport(t.TempDir(), "text"), "write report")
}

func TestAPeerFailsNoQuickRun(t *testing.T) {
	b := &bench{}
	b.failf("drain: %w", peerFailure{errors.ErrUnsupported})
	require.NoError(t, b.failed(true))
	require.ErrorIs(t, b.failed(false), errors.ErrUnsupported)
	b.failf("drain: %w", context.Canceled)
	require.EqualError(t, b.failed(true), "drain: context canceled")
}

// fakeQueue runs and finishes as many jobs as it is told, whatever there is.
type fakeQueue struct {
	Queue
	unfinished, runs, finishes int
	loses                      bool
}

func (f *fakeQueue) Enqueue(context.Context, Payload) error {
	if !f.loses {
		f.unfinished++
	}
	return nil
}

func (f *fakeQueue) Unfinished(context.Context) (int, error) { return f.unfinished, nil }

func (f *fakeQueue) Run(_ context.Context, ran func(n int64)) error {
	for i := range f.runs {
		ran(int64(i))
	}
	f.unfinished -= f.finishes
	return nil
}
