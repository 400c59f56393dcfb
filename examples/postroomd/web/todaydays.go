package web

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/latency"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/webui"
)

// A dayChart is a picture with bars for each day, and the same as a table.
type dayChart struct {
	Width   int
	Summary string // for screen readers
	Bars    []webui.Bar
	Inner   []webui.Bar // within those
	Ticks   []string
	Head    []string // of the table
	Rows    [][]string
}

// dayForm is the day in a chart.
const dayForm = "Mon 2 Jan"

// addDays adds what is shown by day: of a week, or of the whole window if it is longer.
func (h *Handler) addDays(ctx context.Context, page *todayPage, accountID string) error {
	now := page.Activity.Now
	n := 7
	if page.Activity.Window.Name == "30d" {
		n = 30
	}
	from := time.Date(now.Year(), now.Month(), now.Day()+1-n, 0, 0, 0, 0, now.Location())
	if err := h.addWaits(ctx, page, accountID, from, n); err != nil {
		return err
	}
	spent, err := h.app.Models.Records.SpentByDay(ctx, accountID, from, now)
	if err != nil {
		return err
	}
	var calls, tokens int64
	values := make([]int, len(spent))
	c := dayChart{Head: []string{"Day", "Cost", "Tokens", "Calls"}}
	for i, day := range spent {
		calls, tokens = calls+day.Calls, tokens+day.Tokens
		values[i] = int(day.Tokens)
		at, err := time.Parse(time.DateOnly, day.Day)
		if err != nil {
			return fmt.Errorf("read the day of what models cost: %w", err)
		}
		c.Rows = append(c.Rows, []string{at.Format(dayForm), day.Cost.String(), webui.Count(int(day.Tokens), 0),
			webui.Count(int(day.Calls), 0)})
	}
	if calls == 0 {
		return nil
	}
	c.draw(values, nil, func(row []string) string { return row[0] + ": " + row[1] + ", " + row[2] + " tokens" })
	c.Summary = fmt.Sprintf("Tokens by day: %s in all, at most %s on a day", webui.Count(int(tokens), 0),
		webui.Count(webui.MaxOf(values), 0))
	page.Spent = c
	return nil
}

func (h *Handler) addWaits(ctx context.Context, page *todayPage, accountID string, from time.Time, n int) error {
	accounts, err := h.app.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	accounts = slices.DeleteFunc(accounts, func(a mailstore.Account) bool { return accountID != "" && a.ID != accountID })
	instants := make([]time.Time, n+1)
	for i := range instants {
		instants[i] = time.Date(from.Year(), from.Month(), from.Day()+i, 0, 0, 0, 0, from.Location())
	}
	days, err := latency.ByDay(ctx, h.app.DB, accounts, instants)
	if err != nil {
		return err
	}
	messages, longest := 0, time.Duration(0)
	p50, p95 := make([]int, n), make([]int, n)
	c := dayChart{Head: []string{"Day it came", "Half within", "95 % within", "Messages"}}
	for i, day := range days {
		messages, longest = messages+day.Messages, max(longest, day.P95)
		p50[i], p95[i] = int(day.P50.Milliseconds()), int(day.P95.Milliseconds())
		if day.Messages > 0 { // the bar of a wait below a millisecond is one, too
			p50[i], p95[i] = max(p50[i], 1), max(p95[i], 1)
		}
		c.Rows = append(c.Rows, []string{day.From.Format(dayForm), waitWords(day.P50, day.Messages),
			waitWords(day.P95, day.Messages), webui.Count(day.Messages, 0)})
	}
	if messages == 0 {
		return nil
	}
	c.draw(p95, p50, func(row []string) string {
		return row[0] + ": half within " + row[1] + ", 95 % within " + row[2]
	})
	c.Summary = fmt.Sprintf("From arrival to action, by day: of %s messages; 95 %% of a day within %s at the most",
		webui.Count(messages, 0), webui.Duration(longest))
	page.Waits = c
	return nil
}

// waitWords says how long a number of messages waited; a dash for none.
func waitWords(d time.Duration, messages int) string {
	if messages == 0 {
		return "–"
	}
	return webui.Duration(d)
}

// draw makes the bars of the values, and within those the bars of others. title says a row of the table.
func (c *dayChart) draw(values, inner []int, title func(row []string) string) {
	top := max(webui.MaxOf(values), 1)
	c.Width = len(values) * webui.BarStep
	c.Bars, c.Inner = webui.Bars(values, top), webui.Bars(inner, top)
	for _, bars := range [][]webui.Bar{c.Bars, c.Inner} {
		for i := range bars {
			bars[i].Title = title(c.Rows[bars[i].Bucket()])
		}
	}
	const ticks = 4
	for i := range ticks {
		c.Ticks = append(c.Ticks, c.Rows[i*(len(c.Rows)-1)/(ticks-1)][0])
	}
}
