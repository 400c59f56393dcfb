package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/llm"
)

func costCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what the models cost: today, this month, and what a month will come to",
		Long: "Show what the models cost, by mailbox and model: today, this month, what thirty days will come to if they go on like the\n" +
			"last seven, and what is left of the budgets of today. Days begin at midnight where postroomd runs.",
		Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			v, err := h.cost(ctx, time.Now())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.print(cmd.OutOrStdout())
		})
	}
	return cmd
}

// A costView is the JSON of the command cost. Amounts are in dollars.
type costView struct {
	Today    periodView     `json:"today"`
	Month    periodView     `json:"month"`
	Forecast []forecastView `json:"forecast"` // the total first, then each mailbox that has spent something
	Budgets  []budgetView   `json:"budgets"`
	Unpriced []string       `json:"unpriced"` // models that are configured without a price
}

type periodView struct {
	From  time.Time   `json:"from"`
	Until time.Time   `json:"until"`
	Spent []spentView `json:"spent"`
	Total spentView   `json:"total"`
}

type spentView struct {
	Mailbox string  `json:"mailbox,omitempty"`
	Model   string  `json:"model,omitempty"`
	Calls   int64   `json:"calls"`
	Cached  int64   `json:"cached"`
	Failed  int64   `json:"failed"`
	Tokens  int64   `json:"tokens"`
	Dollars float64 `json:"dollars"`
}

type forecastView struct {
	Mailbox string  `json:"mailbox,omitempty"` // empty: all
	Days    int     `json:"days"`              // that it is made from; 0: there is none yet
	Calls   int64   `json:"calls"`
	Tokens  int64   `json:"tokens"`
	Dollars float64 `json:"dollars"`
}

// A budgetView is a budget of today. Values without a bound are left out.
type budgetView struct {
	Mailbox     string   `json:"mailbox,omitempty"` // empty: all together
	Tokens      int64    `json:"tokens,omitempty"`
	TokensLeft  *int64   `json:"tokens_left,omitempty"`
	Dollars     float64  `json:"dollars,omitempty"`
	DollarsLeft *float64 `json:"dollars_left,omitempty"`
}

func dollars(m llm.Money) float64 { return float64(m) / float64(llm.Dollar) }

func (h *host) cost(ctx context.Context, now time.Time) (*costView, error) {
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	v := &costView{Forecast: []forecastView{}, Budgets: []budgetView{}, Unpriced: h.unpriced()}
	from, until := h.records.Day(now)
	if v.Today, err = h.period(ctx, accounts, from, until); err != nil {
		return nil, err
	}
	from, until = h.records.Month(now)
	if v.Month, err = h.period(ctx, accounts, from, until); err != nil {
		return nil, err
	}
	all := gmail.Account{}
	for _, a := range append([]gmail.Account{all}, accounts...) {
		f, err := h.records.Forecast(ctx, a.ID, now)
		if err != nil {
			return nil, err
		}
		if a.ID == "" || f.Days > 0 {
			v.Forecast = append(v.Forecast, forecastView{a.Email, f.Days, f.Month.Calls, f.Month.Tokens, dollars(f.Month.Cost)})
		}
		budget, err := h.budget(ctx, a, now)
		if err != nil {
			return nil, err
		}
		if budget.TokensLeft != nil || budget.DollarsLeft != nil {
			v.Budgets = append(v.Budgets, budget)
		}
	}
	return v, nil
}

func (h *host) period(ctx context.Context, accounts []gmail.Account, from, until time.Time) (periodView, error) {
	p := periodView{From: from, Until: until, Spent: []spentView{}}
	costs, err := h.records.Costs(ctx, from, until)
	for _, c := range costs {
		s := spentView{
			Mailbox: emailOf(accounts, c.AccountID), Model: c.Model, Calls: c.Calls, Cached: c.Cached, Failed: c.Failed,
			Tokens: c.InputTokens + c.OutputTokens, Dollars: dollars(c.Cost),
		}
		p.Spent = append(p.Spent, s)
		p.Total.Calls, p.Total.Cached, p.Total.Failed = p.Total.Calls+s.Calls, p.Total.Cached+s.Cached, p.Total.Failed+s.Failed
		p.Total.Tokens, p.Total.Dollars = p.Total.Tokens+s.Tokens, p.Total.Dollars+s.Dollars
	}
	return p, err
}

// emailOf returns the id of an account that no longer exists.
func emailOf(accounts []gmail.Account, id string) string {
	for _, a := range accounts {
		if a.ID == id {
			return a.Email
		}
	}
	return id
}

// budget returns today's budget of an account, or of all together for the empty id.
func (h *host) budget(ctx context.Context, a gmail.Account, now time.Time) (budgetView, error) {
	cfg := &h.env.Config.LLM
	v := budgetView{Mailbox: a.Email, Tokens: int64(cfg.AccountTokensDay), Dollars: cfg.AccountDollarsDay}
	if a.ID == "" {
		v.Tokens, v.Dollars = int64(cfg.TotalTokensDay), cfg.TotalDollarsDay
	}
	if !cfg.Enabled() {
		return budgetView{}, nil
	}
	spent, err := h.records.Spent(ctx, a.ID, now, now)
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
