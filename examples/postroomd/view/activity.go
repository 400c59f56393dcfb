package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// A Window is a stretch of time that is looked at, in steps.
type Window struct {
	Name  string // as in an address
	Label string
	steps int
	// floor is the beginning of the step that an instant is in, and next the beginning of the one after, in the zone of
	// the reader.
	floor, next func(at time.Time) time.Time
}

// Windows are the windows, the shortest first.
var Windows = []Window{
	{"24h", "24 hours", 24, func(at time.Time) time.Time { return hours(at, 1) },
		func(at time.Time) time.Time { return hours(at.Add(time.Hour), 1) }},
	{"7d", "7 days", 28, func(at time.Time) time.Time { return hours(at, 6) },
		func(at time.Time) time.Time { return hours(hours(at, 6).Add(7*time.Hour+30*time.Minute), 6) }},
	{"30d", "30 days", 30, func(at time.Time) time.Time { return hours(at, 24) },
		func(at time.Time) time.Time { return hours(at, 24).AddDate(0, 0, 1) }},
}

// hours is the last instant before at whose hour of the day is a multiple of n.
func hours(at time.Time, n int) time.Time {
	if n == 1 { // one hour of a year comes twice
		return at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second -
			time.Duration(at.Nanosecond()))
	}
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour()/n*n, 0, 0, 0, at.Location())
}

// instants are the ends of the steps until that which now is in.
func (w Window) instants(now time.Time) []time.Time {
	list := []time.Time{w.next(now), w.floor(now)}
	for len(list) <= w.steps {
		list = append(list, w.floor(list[len(list)-1].Add(-time.Second)))
	}
	slices.Reverse(list)
	return list
}

// An Activity is what came, and what was decided by whom, in a window.
type Activity struct {
	Window Window
	Now    time.Time
	Mail   []MailStep // what Gmail received, and what was sent
	Late   bool       // no mail is that new: the window of Mail ends with the newest

	Senders []TopSender // of the window of Mail

	Kinds, Rules, Deciders []Share // of the decisions since the beginning of the window, most first
	Decisions, Undone      int
}

// A MailStep is the mail of a step of a window.
type MailStep struct {
	From time.Time
	N    int
}

// Who decided, but for the names of models.
const (
	DecidedByRules  = "rules"
	DecidedByPerson = "a person"
	DecidedByNobody = "nobody: no rule matched"
)

// Others is the name of the part that is not listed.
const Others = "others"

// A Share is a part of all decisions.
type Share struct {
	Name string
	N    int
}

// NewActivity counts in a window that ends now, of one mailbox, or for an empty id of all.
func NewActivity(ctx context.Context, h *app.App, accountID string, w Window, now time.Time) (*Activity, error) {
	v := &Activity{Window: w, Now: now}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range accounts {
		if accountID == "" || a.ID == accountID {
			ids = append(ids, a.ID)
		}
	}
	if err := v.countMail(ctx, h, ids, now); err != nil {
		return nil, err
	}
	if v.Senders, err = newTopSenders(ctx, h, ids, v.Mail[0].From); err != nil {
		return nil, err
	}
	return v, v.countDecisions(ctx, h, ids, w.instants(now)[0], now)
}

func (v *Activity) countMail(ctx context.Context, h *app.App, ids []string, now time.Time) error {
	instants := v.Window.instants(now)
	var newest time.Time
	for _, id := range ids {
		at, err := h.Mail.NewestReceived(ctx, id)
		if err != nil {
			return err
		}
		if at.After(newest) {
			newest = at
		}
	}
	if !newest.IsZero() && newest.Before(instants[0]) {
		v.Late, instants = true, v.Window.instants(newest.In(now.Location()))
	}
	for _, from := range instants[:len(instants)-1] {
		v.Mail = append(v.Mail, MailStep{From: from})
	}
	for _, id := range ids {
		counts, err := h.Mail.CountReceived(ctx, id, instants)
		if err != nil {
			return err
		}
		for i, n := range counts {
			v.Mail[i].N += n
		}
	}
	return nil
}

func (v *Activity) countDecisions(ctx context.Context, h *app.App, ids []string, since, now time.Time) error {
	kinds, rules, deciders := map[string]int{}, map[string]int{}, map[string]int{}
	for _, id := range ids {
		list, err := h.Ledger.Activity().Decided(ctx, id, since)
		if err != nil {
			return err
		}
		for _, a := range list {
			v.Decisions += a.N
			kinds[KindWords(a.Action)] += a.N
			switch a.Source {
			case postroom.SourceDeterministic:
				rules[a.Rule] += a.N
				deciders[DecidedByRules] += a.N
			case postroom.SourceModel:
				deciders[cmp.Or(a.Model, "a model")] += a.N
			case postroom.SourceHost:
				deciders[DecidedByPerson] += a.N // all that this program decides itself is what a person chose
			default:
				deciders[DecidedByNobody] += a.N
			}
		}
		undone, err := h.Ledger.Activity().Undone(ctx, id, since, now)
		if err != nil {
			return err
		}
		for _, n := range undone {
			v.Undone += n
		}
	}
	v.Kinds, v.Rules, v.Deciders = shares(kinds), shares(rules), shares(deciders)
	return nil
}

// maxShares bounds the listed parts; the others are one more.
const maxShares = 8

// shares lists the parts, the largest first.
func shares(counts map[string]int) []Share {
	var list []Share
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, Share{name, counts[name]})
	}
	slices.SortStableFunc(list, func(a, b Share) int { return b.N - a.N })
	if len(list) > maxShares {
		rest := Share{Name: Others}
		for _, s := range list[maxShares-1:] {
			rest.N += s.N
		}
		list = append(list[:maxShares-1], rest)
	}
	return list
}

// A TopSender is an address with how much it has sent, and how much of that is read.
type TopSender struct {
	Sender   string
	Messages int
	Read     int
}

// Percent is the part that is read, in whole percent: 100 only if all is.
func (s TopSender) Percent() int { return s.Read * 100 / max(s.Messages, 1) }

// maxSenders bounds the listed senders.
const maxSenders = 8

// newTopSenders lists who has sent the most to the accounts since an instant, most first.
func newTopSenders(ctx context.Context, h *app.App, ids []string, since time.Time) ([]TopSender, error) {
	sums := map[string]TopSender{}
	for _, id := range ids {
		// Who is just below the first of each mailbox may be among the first of all.
		list, err := h.Mail.TopSenders(ctx, id, since, maxSenders*max(1, len(ids)))
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			s := sums[v.Sender]
			sums[v.Sender] = TopSender{v.Sender, s.Messages + v.Messages, s.Read + v.Messages - v.Unread}
		}
	}
	var all []TopSender
	for _, s := range sums {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b TopSender) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Sender, b.Sender))
	})
	return all[:min(len(all), maxSenders)], nil
}
