package queueui

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A window is the time span of the overview.
type window struct {
	Name   string // in the URL
	Label  string
	length time.Duration
	bucket time.Duration
}

var windows = []window{
	{"1h", "last hour", time.Hour, time.Minute},
	{"24h", "last 24 hours", 24 * time.Hour, 30 * time.Minute},
	{"7d", "last 7 days", 7 * 24 * time.Hour, 3 * time.Hour},
}

// An overviewPage is an overview of the queue.
type overviewPage struct {
	Stats   *queueadmin.Stats
	Windows []window
	Window  window
	Totals  totals
	Charts  []chart
	Types   []typeRow
	Cut     bool // the window begins later than requested

	Paused    bool                    // all types
	Limits    []queueadmin.LimitUsage // of keys and types, without those that only pause a type
	Schedules []queue.StoredSchedule
	Longest   []queueadmin.RunningJob
	Look      *look // nil while there is none yet
	LookFails bool
	Findings  []finding
	Versions  []string // of the programs of the workers, if known
}

// totals are sums over all types.
type totals struct {
	Ready, Scheduled, Limited, Moving, Waiting, Running, Failed int
	Paused                                                      int // the ready jobs of paused types
	OldestDue                                                   time.Time
	Completed, Failures, Canceled                               int // in the window
}

// A typeRow is the row of a type.
type typeRow struct {
	queueadmin.TypeStats
	Done, Failures int // in the window
	Paused         bool
	Held           int // the ready jobs of a paused type
	Spark          []webui.Bar
	SparkWidth     int
	Wait, Run      span
}

func (h *Handler) overview(ctx context.Context, u *url.URL) (*view, error) {
	p := &overviewPage{Windows: windows, Window: windows[0]}
	if name := u.Query().Get("window"); name != "" {
		found := false
		for _, w := range windows {
			if w.Name == name {
				p.Window, found = w, true
			}
		}
		if !found {
			return nil, badRequestError("The window is 1h, 24h or 7d.")
		}
	}
	var err error
	p.Stats, err = queueadmin.ReadStats(ctx, h.q, &queueadmin.StatsRequest{Window: p.Window.length,
		Bucket: p.Window.bucket})
	if err != nil {
		return nil, err
	}
	p.Cut = p.Stats.At.Sub(p.Stats.Since) < p.Window.length-2*p.Window.bucket
	if p.Limits, err = queueadmin.LimitUsages(ctx, h.q, p.Stats); err != nil {
		return nil, err
	}
	if p.Schedules, err = h.q.Schedules(ctx); err != nil {
		return nil, err
	}
	if p.Longest, err = queueadmin.LongestRunning(ctx, h.q, longestShown); err != nil {
		return nil, err
	}
	for _, w := range p.Stats.Workers {
		if w.Version != "" && !slices.Contains(p.Versions, w.Version) {
			p.Versions = append(p.Versions, w.Version)
		}
	}
	p.sum(zoneOf(u))
	h.examine(ctx, p, zoneOf(u))
	p.hold()
	return &view{name: "overview", title: "Overview", live: self(u), data: p}, nil
}

// longestShown bounds the longest running jobs that are shown.
const longestShown = 5

// examine adds what the latest examination has found. The page is shown without it if it fails.
func (h *Handler) examine(ctx context.Context, p *overviewPage, zone *time.Location) {
	var err error
	p.Look, err = h.look.get(ctx)
	if p.LookFails = err != nil; p.Look != nil {
		p.Findings = findings(p.Look.Findings, p.Limits, zone)
	}
}

// hold marks the paused types. A paused type without jobs also gets a row, so that it can be resumed.
func (p *overviewPage) hold() {
	for _, l := range p.Limits {
		switch {
		case !l.Paused:
		case l.Target == queue.ForAll():
			p.Paused = true
		case l.Kind == queue.TargetType:
			i := slices.IndexFunc(p.Types, func(t typeRow) bool { return t.Type == l.Name })
			if i < 0 {
				i = len(p.Types)
				p.Types = append(p.Types, typeRow{TypeStats: queueadmin.TypeStats{Type: l.Name}, SparkWidth: webui.BarStep})
			}
			p.Types[i].Paused = true
		}
	}
	p.Limits = slices.DeleteFunc(p.Limits, func(l queueadmin.LimitUsage) bool {
		return l.Kind == queue.TargetType && l.Limit == (queue.Limit{})
	})
	for i := range p.Types {
		if t := &p.Types[i]; t.Paused || p.Paused {
			t.Held, t.Ready = t.Ready, 0
			p.Totals.Paused += t.Held
			p.Totals.Ready -= t.Held
		}
	}
}

func (p *overviewPage) sum(zone *time.Location) {
	var finished []queueadmin.Throughput
	for i := range p.Stats.Types {
		t := &p.Stats.Types[i]
		if finished == nil {
			finished = make([]queueadmin.Throughput, len(t.Finished))
		}
		row := typeRow{TypeStats: *t, Wait: spanOf(t.Wait), Run: spanOf(t.Run)}
		completed := make([]int, len(t.Finished))
		for j, n := range t.Finished {
			finished[j].Completed += n.Completed
			finished[j].Failed += n.Failed
			finished[j].Canceled += n.Canceled
			completed[j] = n.Completed
			row.Done += n.Completed
			row.Failures += n.Failed
			p.Totals.Canceled += n.Canceled
		}
		row.Spark, row.SparkWidth = webui.Bars(completed, webui.MaxOf(completed)), max(1, len(completed))*webui.BarStep
		p.Types = append(p.Types, row)
		p.Totals.add(&row)
	}
	p.Charts = charts(p.Stats, finished, zone)
}

func (s *totals) add(t *typeRow) {
	s.Ready += t.Ready
	s.Scheduled += t.Scheduled
	s.Limited += t.Limited
	s.Moving += t.Moving
	s.Waiting += t.Waiting
	s.Running += t.Running
	s.Failed += t.Failed
	s.Completed += t.Done
	s.Failures += t.Failures
	if !t.OldestDue.IsZero() && (s.OldestDue.IsZero() || t.OldestDue.Before(s.OldestDue)) {
		s.OldestDue = t.OldestDue
	}
}
