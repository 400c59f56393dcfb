package web

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/statistics"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A statisticsPage shows what was counted over a time.
type statisticsPage struct {
	statistics.View

	Mailbox   string // the only one that it is about; empty: all
	Mailboxes []mailstore.Account
	Windows   []statisticsWindow
	Window    string
}

// A statisticsWindow is a time that ends now.
type statisticsWindow struct {
	Name, Label string
	years, days int
}

var statisticsWindows = []statisticsWindow{{"30d", "30 days", 0, 30}, {"1y", "12 months", 1, 0}, {"all", "All", 0, 0}}

// sendersInStatistics is how many senders are shown.
const sendersInStatistics = 20

func (h *Handler) statistics(ctx context.Context, u *url.URL) (*view, error) {
	page := &statisticsPage{Mailbox: u.Query().Get("mailbox"), Windows: statisticsWindows}
	name := u.Query().Get("window")
	i := max(0, slices.IndexFunc(statisticsWindows, func(w statisticsWindow) bool { return w.Name == name }))
	w := statisticsWindows[i]
	page.Window = w.Name
	r := statistics.Request{Senders: sendersInStatistics}
	if w.years+w.days > 0 {
		r.From = time.Now().UTC().AddDate(-w.years, 0, 1-w.days).Format(time.DateOnly)
	}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	if page.Mailbox != "" {
		account, err := h.mailbox(ctx, page.Mailbox)
		if err != nil {
			return nil, err
		}
		r.AccountID = account.ID
	}
	page.View, err = statistics.Read(ctx, h.app, r)
	return &view{name: "statistics", title: "Statistics", data: page}, err
}

// At is the query of another window.
func (p *statisticsPage) At(window string) string {
	query := url.Values{"window": {window}}
	if p.Mailbox != "" {
		query.Set("mailbox", p.Mailbox)
	}
	return "?" + query.Encode()
}

// Part is how many percent of all messages there are, for a bar.
func (p *statisticsPage) Part(n int64) int {
	if p.Messages == 0 {
		return 0
	}
	return int(max(1, min(100, 100*n/p.Messages)))
}

// N is a number as pages have it.
func (p *statisticsPage) N(n int64) int { return int(n) }

// ConfidenceRow is a bin of how sure models were.
type ConfidenceRow struct {
	From, To     string
	N, Corrected int
}

// Sure is how sure models were, and how often they were corrected then.
func (p *statisticsPage) Sure() (rows []ConfidenceRow) {
	for bin := range len(statistics.Confidence{}) {
		row := ConfidenceRow{From: tenth(bin), To: tenth(bin + 1)}
		for _, m := range p.Models {
			row.N, row.Corrected = row.N+int(m.Bins[bin]), row.Corrected+int(m.Wrong[bin])
		}
		if row.N > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func tenth(n int) string {
	if n == 10 {
		return "1"
	}
	return "0." + string(rune('0'+n))
}
