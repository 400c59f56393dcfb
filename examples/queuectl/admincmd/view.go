package admincmd

import (
	"encoding/json"
	"io"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// statsView are the statistics of a queue as JSON. A count that is equal to max_count means that many or more.
type statsView struct {
	At       time.Time    `json:"at"`
	MaxCount int          `json:"max_count"`
	Types    []typeView   `json:"types"`
	Workers  []workerView `json:"workers"`
}

type typeView struct {
	Type      string      `json:"type"`
	Ready     int         `json:"ready"`
	Scheduled int         `json:"scheduled"`
	Limited   int         `json:"limited"`
	Moving    int         `json:"moving"`
	Running   int         `json:"running"`
	Completed int         `json:"completed"`
	Failed    int         `json:"failed"`
	Canceled  int         `json:"canceled"`
	OldestDue time.Time   `json:"oldest_due,omitzero"`
	Wait      latencyView `json:"wait"`
	Run       latencyView `json:"run"`
}

// latencyView are durations in seconds.
type latencyView struct {
	Sample int     `json:"sample"`
	P50    float64 `json:"p50"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

type workerView struct {
	ID      string    `json:"id"`
	Dead    bool      `json:"dead"`
	BeatAt  time.Time `json:"beat_at,omitzero"`
	Types   []string  `json:"types"`
	Running int       `json:"running"`
}

func newStats(s *queueadmin.Stats) statsView {
	return statsView{s.At, s.MaxCount, printer.List(s.Types, func(t queueadmin.TypeStats) typeView {
		return typeView{
			t.Type, t.Ready, t.Scheduled, t.Limited, t.Moving, t.Running, t.Completed, t.Failed, t.Canceled, t.OldestDue,
			newLatency(t.Wait), newLatency(t.Run),
		}
	}), printer.List(s.Workers, func(w queueadmin.WorkerStats) workerView {
		return workerView{w.ID, w.Beat < 0, w.BeatAt, w.Types, w.Running}
	})}
}

func newLatency(l queueadmin.Latency) latencyView {
	return latencyView{l.Sample, l.P50.Seconds(), l.P95.Seconds(), l.P99.Seconds(), l.Max.Seconds()}
}

// printLine prints a value as JSON on one line.
func printLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
