// Package statistics shows what was counted of mailboxes. The command, the API and the page take it.
package statistics

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	counted "github.com/postroom-go/postroom/gmail/statistics"
)

// A View is what was counted of mailboxes in a time.
type View struct {
	Mailboxes []string `json:"mailboxes"`
	From      string   `json:"from,omitempty"` // the first day, in UTC; empty: the first of all
	To        string   `json:"to,omitempty"`   // the last day, in UTC; empty: today

	Messages   int64      `json:"messages"` // received, without those that were deleted since
	Senders    []Sender   `json:"senders"`  // those with the most messages
	Others     int64      `json:"others"`   // messages of all other senders
	Categories []Category `json:"categories"`
	Rules      []Judged   `json:"rules"`
	Models     []Judged   `json:"models"`
	Acts       []Act      `json:"acts"`
	Actions    []Times    `json:"action_times"`
	Answers    []Times    `json:"answer_times"`

	// Days is how many days were changed since they were counted, so that their figures are of before.
	Days      int       `json:"days_to_count"`
	CountedAt time.Time `json:"counted_at,omitzero"` // the last time; zero before the first
}

// A Sender is an address, and how much it has sent.
type Sender struct {
	Sender   string `json:"sender"` // empty for mail without one
	Messages int64  `json:"messages"`
}

// A Category is one of mail.
type Category struct {
	Category   string     `json:"category"`
	Messages   int64      `json:"messages"`
	Confidence float64    `json:"mean_confidence"`
	Bins       Confidence `json:"confidence"`
}

// A Confidence counts by confidence: the first of below 0.1, the last of 0.9 and above.
type Confidence [10]int64

// Judged is how a rule, or a model, has done. What nobody has corrected counts as right.
type Judged struct {
	Name      string  `json:"name"`
	Acted     int64   `json:"acted"`     // actions
	Corrected int64   `json:"corrected"` // rejected, undone or changed by hand
	Confirmed int64   `json:"confirmed"` // approved, or done again
	Accuracy  float64 `json:"accuracy"`  // the share that was not corrected, from 0 to 1

	Confidence float64     `json:"mean_confidence,omitempty"` // of a model
	Bins       *Confidence `json:"confidence,omitempty"`
	Wrong      *Confidence `json:"corrected_by_confidence,omitempty"`
}

// Percent is the accuracy in percent.
func (j Judged) Percent() int { return int(100 * j.Accuracy) }

// An Act is what people did.
type Act struct {
	Act string `json:"act"`
	N   int64  `json:"n"`
}

// Times are how long something took, in seconds.
type Times struct {
	Name string  `json:"name"` // by a rule or a model, alone or asked for; or the answer
	N    int64   `json:"n"`
	Mean float64 `json:"mean_seconds"`
	Half float64 `json:"p50_seconds"` // half took no longer; up to a fifth too much
	Most float64 `json:"p95_seconds"` // 95 % took no longer
}

// A Request selects what is shown.
type Request struct {
	AccountID string // empty: all mailboxes
	From, To  string // the first and the last day, as 2026-11-28, in UTC; empty: all
	Senders   int    // how many of them
}

// maxSenders bounds the senders of a request.
const maxSenders = 1000

// Read reads what was counted. A request that cannot be one is a [usage.Error].
func Read(ctx context.Context, h *app.App, r Request) (v View, err error) {
	f := counted.Filter{}
	if f.From, err = dayOf(r.From); err != nil {
		return v, err
	}
	if f.To, err = dayOf(r.To); err != nil {
		return v, err
	}
	switch {
	case !f.To.IsZero() && f.To.Before(f.From):
		return v, usage.Errorf("the last day, %s, is before the first, %s", r.To, r.From)
	case r.Senders < 1 || r.Senders > maxSenders:
		return v, usage.Errorf("the number of senders is %d; write 1 to %d", r.Senders, maxSenders)
	case !f.To.IsZero():
		f.To = f.To.AddDate(0, 0, 1)
	}
	v = View{From: r.From, To: r.To, Mailboxes: []string{}}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return v, err
	}
	for i := range accounts {
		if a := &accounts[i]; r.AccountID == "" || r.AccountID == a.ID {
			f.Accounts = append(f.Accounts, a.ID)
			v.Mailboxes = append(v.Mailboxes, a.Email)
		}
	}
	p, err := h.Statistics.Progress(ctx, f.Accounts...)
	if err != nil {
		return v, err
	}
	v.Days, v.CountedAt = p.Days, p.CountedAt
	return v, v.read(ctx, h.Statistics, f, r.Senders)
}

func dayOf(text string) (day time.Time, err error) {
	if text == "" {
		return day, nil
	}
	if day, err = time.Parse(time.DateOnly, text); err != nil {
		return day, usage.Errorf("%q is no day; write one such as 2026-11-28", text)
	}
	return day, nil
}

// read adds the dimensions.
func (v *View) read(ctx context.Context, s *counted.Store, f counted.Filter, senders int) error {
	for _, dimension := range counted.Dimensions {
		f.Dimension, f.Limit = dimension, 0
		if dimension == counted.Sender {
			f.Limit = senders
		}
		r, err := s.Read(ctx, f)
		if err != nil {
			return err
		}
		v.add(dimension, &r)
	}
	return nil
}

func (v *View) add(dimension counted.Dimension, r *counted.Result) {
	switch dimension {
	case counted.Sender:
		v.addSenders(r)
	case counted.Category:
		v.Categories = listOf(r, func(g *counted.Group) Category {
			return Category{Category: g.Name, Messages: g.N, Confidence: g.MeanConfidence(), Bins: binsOf(g)}
		})
	case counted.Rule:
		v.Rules = judged(r, false)
	case counted.Model:
		v.Models = judged(r, true)
	case counted.Act:
		v.Acts = listOf(r, func(g *counted.Group) Act { return Act{Act: g.Name, N: g.N} })
	case counted.ActionTime:
		v.Actions = listOf(r, timesOf)
	case counted.AnswerTime:
		v.Answers = listOf(r, timesOf)
	}
}

func (v *View) addSenders(r *counted.Result) {
	v.Messages, v.Others = r.N, r.N
	v.Senders = listOf(r, func(g *counted.Group) Sender {
		v.Others -= g.N
		return Sender{Sender: g.Name, Messages: g.N}
	})
}

func listOf[T any](r *counted.Result, of func(*counted.Group) T) []T {
	list := make([]T, len(r.Groups))
	for i := range r.Groups {
		list[i] = of(&r.Groups[i])
	}
	return list
}

func binsOf(g *counted.Group) (c Confidence) {
	for bin, n := range g.Bins {
		if bin >= 0 && bin < len(c) {
			c[bin] += n
		}
	}
	return c
}

// judged adds up the outcomes of each name, those with the most actions first.
func judged(r *counted.Result, sure bool) []Judged {
	list, total := []Judged{}, []int64{}
	for i := range r.Groups {
		g := &r.Groups[i]
		at := slices.IndexFunc(list, func(j Judged) bool { return j.Name == g.Name })
		if at < 0 {
			at, list, total = len(list), append(list, Judged{Name: g.Name}), append(total, 0)
			if sure {
				list[at].Bins, list[at].Wrong = &Confidence{}, &Confidence{}
			}
		}
		list[at].take(g)
		total[at] += g.Total
	}
	for i := range list {
		j := &list[i]
		j.Accuracy = 1 - float64(j.Corrected)/float64(j.Acted)
		j.Confidence = float64(total[i]) / float64(j.Acted) / 1e6
	}
	slices.SortStableFunc(list, func(a, b Judged) int { return int(min(1, max(-1, b.Acted-a.Acted))) })
	return list
}

func (j *Judged) take(g *counted.Group) {
	j.Acted += g.N
	switch g.Outcome {
	case counted.Corrected:
		j.Corrected += g.N
	case counted.Confirmed:
		j.Confirmed += g.N
	}
	if j.Bins == nil {
		return
	}
	for bin, n := range binsOf(g) {
		j.Bins[bin] += n
		if g.Outcome == counted.Corrected {
			j.Wrong[bin] += n
		}
	}
}

func timesOf(g *counted.Group) Times {
	name := g.Name
	switch g.Name {
	case string(postroom.SourceDeterministic):
		name = "rules"
	case string(postroom.SourceModel):
		name = "models"
	}
	switch g.Outcome {
	case counted.Alone:
		name += ", by themselves"
	case counted.Asked:
		name += ", after a person approved"
	}
	return Times{Name: name, N: g.N, Mean: float64(g.Total) / float64(g.N) / 1e3, Half: g.Within(0.5).Seconds(),
		Most: g.Within(0.95).Seconds()}
}
