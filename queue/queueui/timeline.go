package queueui

import (
	"fmt"
	"math"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
)

// timelineWidth is the width of the picture in its own units.
const timelineWidth = 1000.0

// A timeline shows a job's history as a picture: its waits, and each attempt.
type timeline struct {
	From, To time.Time
	Summary  string
	Spans    []timespan
}

// A timespan is an attempt.
type timespan struct {
	X, W  float64
	Kind  string
	Title string
}

// draw makes the picture of the attempts; nil if there are none.
func draw(job *queue.Job, attempts []queue.AttemptRecord, now time.Time) *timeline {
	if len(attempts) == 0 {
		return nil
	}
	t := &timeline{From: attempts[0].StartedAt, To: now}
	if job.CreatedAt.Before(t.From) && attempts[0].Attempt == 1 {
		t.From = job.CreatedAt
	}
	if job.State.Finished() && !job.FinishedAt.IsZero() {
		t.To = job.FinishedAt
	} else if last := attempts[len(attempts)-1]; !last.FinishedAt.IsZero() {
		t.To = later(last.FinishedAt, t.From)
	}
	all := t.To.Sub(t.From)
	for i := range attempts {
		t.Spans = append(t.Spans, t.span(&attempts[i], all))
	}
	t.Summary = fmt.Sprintf("attempts: %d in %s, the last one %s", len(attempts), webui.Duration(all),
		attempts[len(attempts)-1].Kind)
	return t
}

func (t *timeline) span(a *queue.AttemptRecord, all time.Duration) timespan {
	end := a.FinishedAt
	if end.IsZero() {
		end = t.To
	}
	took := end.Sub(a.StartedAt)
	s := timespan{Kind: a.Kind, Title: fmt.Sprintf("Attempt %d: %s after %s", a.Attempt, a.Kind, webui.Duration(took))}
	if all > 0 {
		s.X = float64(a.StartedAt.Sub(t.From)) / float64(all) * timelineWidth
		s.W = float64(took) / float64(all) * timelineWidth
	}
	// The shortest attempt is visible, even at the end, and clocks that differ draw nothing outside.
	s.W = min(max(s.W, 6), timelineWidth)
	s.X = min(max(s.X, 0), timelineWidth-s.W)
	s.X, s.W = math.Round(s.X*10)/10, math.Round(s.W*10)/10
	return s
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
