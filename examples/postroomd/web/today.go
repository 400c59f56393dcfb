package web

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/internal/webui"
)

// A todayPage is the first page.
type todayPage struct {
	*texts.Today
	Mailbox string // the only one that it is about; empty: all
	Windows []texts.Window
	Mail    mailChart
	Shares  []shareChart
	Waits   dayChart // from the arrival of mail until something was done
	Spent   dayChart // on models
	Ready   int      // drafts of answers that lie ready
}

// A mailChart is a picture of the mail that came, step by step.
type mailChart struct {
	Total, Width int
	Summary      string // for screen readers
	Until        string // when the picture ends, if it does not end now
	Bars         []webui.Bar
	Ticks        []string // the times along its foot, evenly
}

// A shareChart is a picture of the parts of all decisions.
type shareChart struct {
	ID, Title string
	Rows      []shareRow
}

type shareRow struct {
	texts.Share
	Width float64 // 100 for the largest
	Query string  // of the actions that it counts, as of an address; empty for others
}

// defaultWindow is the window of an address without one.
const defaultWindow = "7d"

func (h *Handler) today(ctx context.Context, u *url.URL) (*view, error) {
	name := u.Query().Get("window")
	i := slices.IndexFunc(texts.Windows, func(w texts.Window) bool { return w.Name == name })
	if i < 0 {
		i = slices.IndexFunc(texts.Windows, func(w texts.Window) bool { return w.Name == defaultWindow })
	}
	mailbox := u.Query().Get("mailbox")
	var accountID string
	if mailbox != "" {
		account, err := h.mailbox(ctx, mailbox)
		if err != nil {
			return nil, err
		}
		accountID = account.ID
	}
	v, err := texts.NewToday(ctx, h.app, accountID, texts.Windows[i], time.Now().In(zone(u.Query().Get(zoneParam))))
	if err != nil {
		return nil, err
	}
	a := v.Activity
	page := &todayPage{Today: v, Mailbox: mailbox, Windows: texts.Windows, Mail: newMailChart(a)}
	if err := h.addDays(ctx, page, accountID); err != nil {
		return nil, err
	}
	counts, err := h.app.Replies.Count(ctx, accountID)
	if err != nil {
		return nil, err
	}
	for _, state := range drafts.Ready() {
		page.Ready += counts[state]
	}
	of := url.Values{"window": {a.Window.Name}}
	if mailbox != "" {
		of.Set("mailbox", mailbox)
	}
	kinds := map[string]string{}
	for _, kind := range h.app.Ledger.Kinds().Types() {
		kinds[texts.KindWords(kind)] = string(kind)
	}
	for _, c := range []shareChart{
		{"kinds", "What", rows(a.Kinds, of, "kind", func(name string) string { return kinds[name] })},
		{"rules", "By which rule", rows(a.Rules, of, "rule", func(name string) string { return name })},
		{"deciders", "Who decided", rows(a.Deciders, of, "source", sourceOf)},
	} {
		if len(c.Rows) > 0 {
			page.Shares = append(page.Shares, c)
		}
	}
	return &view{name: "today", title: "Today", live: true, data: page}, nil
}

func newMailChart(a *texts.Activity) mailChart {
	values := make([]int, len(a.Mail))
	c := mailChart{Width: len(a.Mail) * webui.BarStep}
	layout := "Mon 2 Jan 15:04"
	if a.Window.Name == "30d" {
		layout = "Mon 2 Jan"
	}
	for i, s := range a.Mail {
		values[i] = s.N
		c.Total += s.N
	}
	c.Bars = webui.Bars(values, webui.MaxOf(values))
	for i := range c.Bars {
		bar := &c.Bars[i]
		bar.Title = fmt.Sprintf("from %s: %s", a.Mail[bar.Bucket()].From.Format(layout), webui.Count(bar.N, 0))
	}
	const ticks = 4
	for i := range ticks {
		c.Ticks = append(c.Ticks, a.Mail[i*(len(a.Mail)-1)/(ticks-1)].From.Format(layout))
	}
	if a.Late {
		c.Until = a.Mail[len(a.Mail)-1].From.Format("2 Jan 2006")
	}
	c.Summary = fmt.Sprintf("Mail in %s: %s in all, at most %s in a step", a.Window.Label, webui.Count(c.Total, 0),
		webui.Count(webui.MaxOf(values), 0))
	return c
}

// sourceOf is the source of the decisions of a decider.
func sourceOf(decider string) string {
	switch decider {
	case texts.DecidedByRules:
		return string(postroom.SourceDeterministic)
	case texts.DecidedByPerson:
		return string(postroom.SourceHost)
	case texts.DecidedByNobody:
		return string(postroom.SourceNone)
	}
	return string(postroom.SourceModel)
}

// rows are the rows of a picture. Each leads to its actions: those of an address whose parameter has its value.
func rows(shares []texts.Share, of url.Values, parameter string, value func(name string) string) []shareRow {
	most := 1
	for _, s := range shares {
		most = max(most, s.N)
	}
	list := make([]shareRow, len(shares))
	for i, s := range shares {
		list[i] = shareRow{Share: s, Width: max(1, float64(s.N*100)/float64(most))}
		if v := value(s.Name); v != "" && s.Name != texts.Others {
			query := maps.Clone(of)
			query.Set(parameter, v)
			list[i].Query = "?" + query.Encode()
		}
	}
	return list
}
