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

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/machine"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/raw"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
)

// Ratios say by how much ours is better, whichever way better is.
func TestRatiosAreAboveOneWhereOursIsBetter(t *testing.T) {
	drain, start := workload.Workload{Name: "drain"}, workload.Workload{Name: "latency", Latency: "start"}
	measured := func(rate, p50, p99 float64) figure.Figure {
		return figure.Figure{Rate: rate, Latencies: map[string]figure.Percentiles{"start": {p50, p50, p99, 0}}}
	}
	fast := found{cell: &cell{}, figure: measured(200, 200, 400)}
	slow := found{cell: &cell{}, figure: measured(100, 100, 100)}
	require.Equal(t, "2.00", ratio(drain, fast, slow))
	require.Equal(t, "2.00 / 4.00", ratio(start, slow, fast))
	require.Equal(t, "–", ratio(drain, fast, found{}))
}

func rates(values ...float64) []figure.Figure {
	var figures []figure.Figure
	for _, v := range values {
		figures = append(figures, figure.Figure{Rate: v})
	}
	return figures
}

func TestTheBetterVariantAndTheBestPeerAreShown(t *testing.T) {
	w := workload.Workload{Name: "drain", Title: "drain"}
	b := &bench{engines: store.Engines("", ""), workloads: []workload.Workload{w}, contenders: []contender.Contender{
		{Engine: "sqlite", Name: raw.Name}, {Engine: "sqlite", Name: raw.LargeName}, {Engine: "sqlite", Name: postroom.Name},
		{Engine: "sqlite", Name: "slow", Peer: true},
		{Engine: "sqlite", Name: "quick", Variant: "10 workers", Peer: true}, {Engine: "sqlite", Name: "quick", Variant: "99 workers", Peer: true},
	}}
	for _, c := range []struct {
		name, variant string
		rounds        []figure.Figure
	}{
		{raw.Name, "", rates(300, 100, 200)}, {raw.LargeName, "", rates(400, 400, 1)},
		{postroom.Name, "", rates(100)}, {"slow", "", rates(10)},
		{"quick", "10 workers", rates(30, 10, 20)}, {"quick", "99 workers", rates(50, 50, 1)},
	} {
		b.cells = append(b.cells, &cell{Engine: "sqlite", Durability: store.Full, Workload: "drain", Contender: c.name,
			Variant: c.variant, Rounds: c.rounds})
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
`, b.table("sqlite", store.Full, "SQLite"))
}

func TestAnExpressionThatMatchesNobodyIsAnError(t *testing.T) {
	b := &bench{engines: store.Engines(t.TempDir(), ""), dir: t.TempDir(), rounds: 1, size: quickSize()}
	_, err := b.run(t.Context(), "^nobody$", "")
	require.ErrorContains(t, err, "sqlite/postroom")
}

// The whole program, on the engine that needs no server.
func TestAQuickRunFillsTheReport(t *testing.T) {
	b := &bench{engines: store.Engines(t.TempDir(), ""), dir: t.TempDir(), rounds: 2, size: quickSize()}
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
	all := store.Engines(t.TempDir(), store.Normal)
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
	store.Engine

	cancel func()
	made   int
}

func (e *cancelingEngine) Make(ctx context.Context) (store.Place, func() error, error) {
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

func TestMachinesAreReportedBesideTheBestPeer(t *testing.T) {
	b := &bench{engines: store.Engines("", ""), size: fullSize(), contenders: []contender.Contender{
		{Engine: "postgres", Name: postroom.Name}, {Engine: "postgres", Name: "River", Peer: true},
		{Engine: "postgres", Name: "River", Variant: "polling", Peer: true}, {Engine: "postgres", Name: "never measured"},
	}}
	b.machines = []machine.Result{{
		Engine: "postgres", Case: machine.Case{Machines: 4, Work: 5 * time.Millisecond, Delay: time.Millisecond},
		Trip: 1300 * time.Microsecond,
		By: map[string][]float64{"postgres/postroom": {3000, 1, 6000}, "postgres/River": {1000},
			"postgres/River polling": {1500}},
	}}
	require.Equal(t, []string{postroom.Name, "River"}, b.machineNames())
	require.Equal(t, [][]string{{"PostgreSQL", "1ms", "1.30 ms", "5ms", "4", "8,000", "3,000", "1,500 (polling)",
		"2.00"}}, b.machineRows())
}
