package view

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
)

// A Cost is the JSON of the command cost. Amounts are in dollars.
type Cost struct {
	Today    Period     `json:"today"`
	Month    Period     `json:"month"`
	Forecast []Forecast `json:"forecast"` // the total first, then each mailbox that has spent something
	Budgets  []Budget   `json:"budgets"`
	Unpriced []string   `json:"unpriced"` // Models that are configured without a price
}

// A Period is a stretch of time that costs are counted in.
type Period struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Spent []Spent   `json:"spent"`
	Total Spent     `json:"total"`
}

// Spent is what a mailbox has cost in a period.
type Spent struct {
	Mailbox string  `json:"mailbox,omitempty"`
	Model   string  `json:"model,omitempty"`
	Calls   int64   `json:"calls"`
	Cached  int64   `json:"cached"`
	Failed  int64   `json:"failed"`
	Tokens  int64   `json:"tokens"`
	Dollars float64 `json:"dollars"`
}

// A Forecast is what a month will cost if it goes on so.
type Forecast struct {
	Mailbox string  `json:"mailbox,omitempty"` // empty: all
	Days    int     `json:"days"`              // that it is made from; 0: there is none yet
	Calls   int64   `json:"calls"`
	Tokens  int64   `json:"tokens"`
	Dollars float64 `json:"dollars"`
}

// A Budget is a budget of today. Values without a bound are left out.
type Budget struct {
	Mailbox     string   `json:"mailbox,omitempty"` // empty: all together
	Tokens      int64    `json:"tokens,omitempty"`
	TokensLeft  *int64   `json:"tokens_left,omitempty"`
	Dollars     float64  `json:"dollars,omitempty"`
	DollarsLeft *float64 `json:"dollars_left,omitempty"`
}

func dollars(m llm.Money) float64 { return float64(m) / float64(llm.Dollar) }

// NewCost reads what the models have cost until now.
func NewCost(ctx context.Context, h *app.App, now time.Time) (*Cost, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	v := &Cost{Forecast: []Forecast{}, Unpriced: h.Models.Unpriced()}
	from, until := h.Models.Records.Day(now)
	if v.Today, err = newPeriod(ctx, h, accounts, from, until); err != nil {
		return nil, err
	}
	from, until = h.Models.Records.Month(now)
	if v.Month, err = newPeriod(ctx, h, accounts, from, until); err != nil {
		return nil, err
	}
	for _, a := range append([]mailstore.Account{{}}, accounts...) {
		f, err := h.Models.Records.Forecast(ctx, a.ID, now)
		if err != nil {
			return nil, err
		}
		if a.ID == "" || f.Days > 0 {
			v.Forecast = append(v.Forecast, Forecast{a.Email, f.Days, f.Month.Calls, f.Month.Tokens, dollars(f.Month.Cost)})
		}
	}
	v.Budgets, err = newBudgets(ctx, h, accounts, now)
	return v, err
}

// A CostNow is what the page of the models shows of the costs.
type CostNow struct {
	Today    Spent
	Month    Spent // without what was answered from what is kept, and what has failed: these are not summed by day
	Budgets  []Budget
	Unpriced []string
}

// NewCostNow reads what the models have cost, the month by the sums of its days: it does not read each call of them.
func NewCostNow(ctx context.Context, h *app.App, now time.Time) (v CostNow, err error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return v, err
	}
	from, until := h.Models.Records.Day(now)
	today, err := newPeriod(ctx, h, accounts, from, until)
	if err != nil {
		return v, err
	}
	from, _ = h.Models.Records.Month(now)
	month, err := h.Models.Records.Spent(ctx, "", from, now)
	if err != nil {
		return v, err
	}
	v = CostNow{Today: today.Total, Unpriced: h.Models.Unpriced(),
		Month: Spent{Calls: month.Calls, Tokens: month.Tokens, Dollars: dollars(month.Cost)}}
	v.Budgets, err = newBudgets(ctx, h, accounts, now)
	return v, err
}

// newBudgets reads the budgets of today that have a bound, that of all together first.
func newBudgets(ctx context.Context, h *app.App, accounts []mailstore.Account, now time.Time) ([]Budget, error) {
	list := []Budget{}
	for _, a := range append([]mailstore.Account{{}}, accounts...) {
		b, err := newBudget(ctx, h, a, now)
		if err != nil {
			return nil, err
		}
		if b.TokensLeft != nil || b.DollarsLeft != nil {
			list = append(list, b)
		}
	}
	return list, nil
}

func newPeriod(ctx context.Context, h *app.App, accounts []mailstore.Account, from, until time.Time) (Period, error) {
	p := Period{From: from, Until: until, Spent: []Spent{}}
	costs, err := h.Models.Records.Costs(ctx, from, until)
	for _, c := range costs {
		s := Spent{
			Mailbox: EmailOf(accounts, c.AccountID), Model: c.Model, Calls: c.Calls, Cached: c.Cached, Failed: c.Failed,
			Tokens: c.InputTokens + c.OutputTokens, Dollars: dollars(c.Cost),
		}
		p.Spent = append(p.Spent, s)
		p.Total.Calls, p.Total.Cached, p.Total.Failed = p.Total.Calls+s.Calls, p.Total.Cached+s.Cached,
			p.Total.Failed+s.Failed
		p.Total.Tokens, p.Total.Dollars = p.Total.Tokens+s.Tokens, p.Total.Dollars+s.Dollars
	}
	return p, err
}

// EmailOf returns the id of an account that no longer exists.
func EmailOf(accounts []mailstore.Account, id string) string {
	for _, a := range accounts {
		if a.ID == id {
			return a.Email
		}
	}
	return id
}

// newBudget returns today's budget of an account, or of all together for the empty id.
func newBudget(ctx context.Context, h *app.App, a mailstore.Account, now time.Time) (Budget, error) {
	cfg := &h.Env.Config.LLM
	v := Budget{Mailbox: a.Email, Tokens: int64(cfg.AccountTokensDay), Dollars: cfg.AccountDollarsDay}
	if a.ID == "" {
		v.Tokens, v.Dollars = int64(cfg.TotalTokensDay), cfg.TotalDollarsDay
	}
	if !cfg.Enabled() {
		return Budget{}, nil
	}
	spent, err := h.Models.Records.Spent(ctx, a.ID, now, now)
	if err != nil {
		return v, fmt.Errorf("read what is left of the budgets: %w", err)
	}
	if v.Tokens > 0 {
		left := max(0, v.Tokens-spent.Tokens)
		v.TokensLeft = &left
	}
	if v.Dollars > 0 {
		left := max(0, v.Dollars-dollars(spent.Cost))
		v.DollarsLeft = &left
	}
	return v, nil
}
