package llm

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// A Spend is the total of the calls of one or more days.
type Spend struct {
	Calls  int64 `db:"calls"` // those that were answered by a provider, or may have been
	Tokens int64 `db:"tokens"`
	Cost   Money `db:"cost"`
}

type spendRow struct {
	Day string `db:"day"`
	Spend
}

// Spent returns the spending of the account on the days from the first time to the second, both included; of all
// accounts together for the empty id.
func (r *Records) Spent(ctx context.Context, accountID string, from, to time.Time) (Spend, error) {
	var sum Spend
	rows, err := r.spent(ctx, accountID, r.day(from), r.day(to.AddDate(0, 0, 1)))
	for _, row := range rows {
		sum.add(row.Spend)
	}
	return sum, err
}

// A DaySpend is the spending of one day.
type DaySpend struct {
	Day string // as 2006-01-02
	Spend
}

// SpentByDay returns the spending of the account, or of all together for the empty id, on each day from that of the
// first time to that of the second, both included.
func (r *Records) SpentByDay(ctx context.Context, accountID string, from, to time.Time) ([]DaySpend, error) {
	_, end := r.Day(to)
	rows, err := r.spent(ctx, accountID, r.day(from), r.day(end))
	if err != nil {
		return nil, err
	}
	var days []DaySpend
	for at, _ := r.Day(from); at.Before(end); _, at = r.Day(at) {
		day := DaySpend{Day: r.day(at)}
		if len(rows) > 0 && rows[0].Day == day.Day {
			day.Spend, rows = rows[0].Spend, rows[1:]
		}
		days = append(days, day)
	}
	return days, nil
}

func (s *Spend) add(other Spend) {
	s.Calls, s.Tokens, s.Cost = s.Calls+other.Calls, s.Tokens+other.Tokens, s.Cost+other.Cost
}

func (r *Records) spent(ctx context.Context, accountID, from, before string) ([]spendRow, error) {
	var rows []spendRow
	if err := dbquery.Select(ctx, r.cfg.DB.Reader(), &rows, sqlSpent, accountID, from, before); err != nil {
		return nil, fmt.Errorf("read what models cost: %w", err)
	}
	return rows, nil
}

const dayForm = "2006-01-02"

// day is the day of the budgets that t belongs to.
func (r *Records) day(t time.Time) string { return t.In(r.cfg.Zone).Format(dayForm) }

// A Forecast is the expected cost of a month, from the last days.
type Forecast struct {
	Days  int   // the whole days it is made from, up to seven; 0 if there are none yet, and no forecast
	Spent Spend // on these days
	Month Spend // on thirty
}

// Forecast returns the expected cost of the next thirty days for the account, or for all accounts together for the
// empty id, from the last seven whole days before now, or those since the first call.
func (r *Records) Forecast(ctx context.Context, accountID string, now time.Time) (Forecast, error) {
	const week, month = 7, 30
	today := now.In(r.cfg.Zone)
	rows, err := r.spent(ctx, accountID, r.day(today.AddDate(0, 0, -week)), r.day(today))
	if err != nil || len(rows) == 0 {
		return Forecast{}, err
	}
	var f Forecast
	f.Days = week
	earlier, err := r.spent(ctx, accountID, "", rows[0].Day)
	if err != nil {
		return Forecast{}, err
	}
	if len(earlier) == 0 {
		for f.Days > 1 && r.day(today.AddDate(0, 0, -f.Days)) != rows[0].Day {
			f.Days--
		}
	}
	for _, row := range rows {
		f.Spent.add(row.Spend)
	}
	days := int64(f.Days)
	f.Month = Spend{Calls: f.Spent.Calls * month / days, Tokens: f.Spent.Tokens * month / days,
		Cost: f.Spent.Cost * month / Money(days)}
	return f, nil
}

// A Cost is the total of the calls of one account to one model.
type Cost struct {
	AccountID    string `db:"account_id"`
	Model        string `db:"model"`
	Calls        int64  `db:"calls"`  // that were answered by a provider, or may have been
	Failed       int64  `db:"failed"` // some of which cost something
	Cached       int64  `db:"cached"` // that were given a kept answer
	InputTokens  int64  `db:"input_tokens"`
	OutputTokens int64  `db:"output_tokens"`
	Cost         Money  `db:"cost"`
}

// Costs returns the spending from a time to another, the second excluded, by account and model. It counts the calls
// that are still on record, see [Records.Prune].
func (r *Records) Costs(ctx context.Context, from, to time.Time) ([]Cost, error) {
	var costs []Cost
	if err := dbquery.Select(ctx, r.cfg.DB.Reader(), &costs, sqlCosts, dbtime.Of(from), dbtime.Of(to)); err != nil {
		return nil, fmt.Errorf("read what models cost: %w", err)
	}
	return costs, nil
}

// Models returns the models whose calls are on record, in the order of their names.
func (r *Records) Models(ctx context.Context) ([]string, error) {
	models := []string{}
	if err := dbquery.Select(ctx, r.cfg.DB.Reader(), &models, sqlModels); err != nil {
		return nil, fmt.Errorf("read which models were asked: %w", err)
	}
	return models, nil
}

// Day returns the beginning of the budgets' day that t belongs to, and of the next.
func (r *Records) Day(t time.Time) (from, to time.Time) {
	y, m, d := t.In(r.cfg.Zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, r.cfg.Zone), time.Date(y, m, d+1, 0, 0, 0, 0, r.cfg.Zone)
}

// Month returns the beginning of the month that t belongs to, and of the next.
func (r *Records) Month(t time.Time) (from, to time.Time) {
	y, m, _ := t.In(r.cfg.Zone).Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, r.cfg.Zone), time.Date(y, m+1, 1, 0, 0, 0, 0, r.cfg.Zone)
}
