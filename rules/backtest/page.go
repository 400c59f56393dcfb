package backtest

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("backtest").Parse(pageHTML))

// WriteHTML writes the backtest as one page with charts, which loads nothing and runs no scripts. Text of mail is
// escaped.
func (b *Report) WriteHTML(w io.Writer) error {
	return pageTemplate.Execute(w, b.page())
}

// A pageView is the data of the page.
type pageView struct {
	*Report
	Span, MatchedShare, FirstDay, LastDay string

	Unmatched  int
	Width      int
	Bars       []dayBar
	RuleRows   []row
	ActionRows []row
	ChangeRows []row
}

// A row is a count with its bar, in percent of the longest.
type row struct {
	Name, Does    string
	Before, After string
	Count         int
	Share         int
	BeforeShare   int
	Samples       []mail
}

type mail struct{ Subject, From, Day, Rules string }

// A dayBar is a bar of the chart, for one or more days; the height of the chart is 100.
type dayBar struct {
	Title             string
	X                 int
	All, AllY         int
	Matched, MatchedY int
}

func (b *Report) page() pageView {
	v := pageView{Report: b, Span: messages(b.Messages) + b.span(), MatchedShare: percent(b.Matched, b.Messages),
		Unmatched: b.Messages - b.Matched}
	v.Bars, v.Width = b.bars()
	if len(b.Days) > 0 {
		v.FirstDay, v.LastDay = b.Days[0].Day, b.Days[len(b.Days)-1].Day
	}
	most := 1
	for _, r := range b.Rules {
		most = max(most, r.Matched)
	}
	for _, r := range b.Rules {
		v.RuleRows = append(v.RuleRows, row{
			Name: oneVisibleLine(r.Name), Does: actionsText(r.Actions), Count: r.Matched, Share: share(r.Matched, most),
			Samples: mails(r.Samples),
		})
	}
	most = 1
	for _, a := range b.Actions {
		most = max(most, a.Count, a.Before)
	}
	for _, a := range b.Actions {
		v.ActionRows = append(v.ActionRows, row{
			Name: oneVisibleLine(a.Action), Count: a.Count, Share: share(a.Count, most), Before: strconv.Itoa(a.Before),
			BeforeShare: share(a.Before, most),
		})
	}
	for _, c := range b.Changes {
		v.ChangeRows = append(v.ChangeRows, row{
			Before: actionsText(c.Before), After: actionsText(c.After), Count: c.Count,
			Share: share(c.Count, b.Changes[0].Count), Samples: mails(c.Samples),
		})
	}
	return v
}

// share is at least 1 where there is something to see.
func share(part, whole int) int {
	if part == 0 {
		return 0
	}
	return max(1, 100*part/whole)
}

func mails(samples []Sample) []mail {
	list := make([]mail, len(samples))
	for i, s := range samples {
		list[i] = mail{oneVisibleLine(s.Subject), oneVisibleLine(s.From), strings.TrimSpace(dayOf(s.Received)),
			oneVisibleLine(strings.Join(s.Rules, ", "))}
	}
	return list
}

// maxBars bounds the bars of the chart: with more days, each stands for several.
const maxBars = 60

func (b *Report) bars() (bars []dayBar, width int) {
	if len(b.Days) == 0 {
		return nil, 0
	}
	first, last := parseDay(b.Days[0].Day), parseDay(b.Days[len(b.Days)-1].Day)
	days := int(last.Sub(first).Hours()/24) + 1
	each := (days + maxBars - 1) / maxBars
	sums := make([]Day, (days+each-1)/each)
	for _, day := range b.Days {
		sum := &sums[int(parseDay(day.Day).Sub(first).Hours()/24)/each]
		sum.Messages, sum.Matched = sum.Messages+day.Messages, sum.Matched+day.Matched
	}
	most := 1
	for _, sum := range sums {
		most = max(most, sum.Messages)
	}
	for i, sum := range sums {
		bar := dayBar{
			X: i * 10, All: share(sum.Messages, most), Matched: share(sum.Matched, most),
			Title: fmt.Sprintf("%s: %s, %d matched", first.AddDate(0, 0, i*each).Format(time.DateOnly),
				messages(sum.Messages), sum.Matched),
		}
		bar.AllY, bar.MatchedY = 100-bar.All, 100-bar.Matched
		bars = append(bars, bar)
	}
	return bars, len(bars) * 10
}

func parseDay(day string) time.Time {
	t, _ := time.Parse(time.DateOnly, day) // it was written in this form
	return t
}
