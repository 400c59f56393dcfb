package statistics

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// A Dimension is one thing that is counted, by name and by outcome.
type Dimension string

// The dimensions.
const (
	// Sender counts mail by its sender, as addresses are compared. What the account has sent or drafted itself does not
	// count, nor what the host has put there.
	Sender Dimension = "sender"
	// Category counts mail by its category. Total is the sum of the confidences in millionths, and bins are those of
	// [ConfidenceBin].
	Category Dimension = "category"
	// Rule counts the actions that rules have led to, by the name of the rule at the time and by what people said:
	// [Corrected], [Confirmed] or [Unjudged].
	Rule Dimension = "rule"
	// Model is as Rule, for the models that decided, with confidences as in Category.
	Model Dimension = "model"
	// Act counts what people did: approved, rejected, edited, undone, moved_back, relabelled, chosen.
	Act Dimension = "act"
	// ActionTime counts completed actions by their source, deterministic or llm, and by whether a person was [Asked]
	// or the action was done [Alone]. Total is the time from the arrival of the mail to the end of the action, in
	// milliseconds, and bins are those of [TimeBin]. What a batch did about mail that was there does not count.
	ActionTime Dimension = "action_time"
	// AnswerTime counts requests by the answer, approved or rejected. Total is the time from the request to the answer,
	// as in ActionTime.
	AnswerTime Dimension = "answer_time"
)

// Dimensions are all of them.
var Dimensions = []Dimension{Sender, Category, Rule, Model, Act, ActionTime, AnswerTime}

// What people said about an action of a rule or a model.
const (
	Corrected = "corrected" // it was rejected, undone or changed by hand
	Confirmed = "confirmed" // it was approved, or done again
	Unjudged  = "unjudged"  // nobody said anything
)

// How an action was done.
const (
	Alone = "alone" // nobody was asked
	Asked = "asked" // a person has approved it
)

// ConfidenceBin is the bin of a confidence: 0 for less than 0.1, and 9 for 0.9 or more.
func ConfidenceBin(confidence float64) int { return min(9, max(0, int(confidence*10))) }

// TimeBin is the bin of a time: each is a quarter of an octave wide, and the first is of one second or less.
func TimeBin(d time.Duration) int {
	if d <= time.Second {
		return 0
	}
	return min(maxBin, int(math.Ceil(4*math.Log2(d.Seconds()))))
}

// maxBin is that of 272 years and more: a Duration has room for no further one.
const maxBin = 4 * 33

// TimeOf is the longest time in a bin.
func TimeOf(bin int) time.Duration {
	return time.Duration(math.Exp2(float64(min(bin, maxBin))/4) * float64(time.Second))
}

// A cell is what is counted together.
type cell struct {
	Dimension Dimension `db:"dimension"`
	Name      string    `db:"name"`
	Outcome   string    `db:"outcome"`
	Bin       int       `db:"bin"`
}

type sum struct {
	N     int64 `db:"n"`
	Total int64 `db:"total"`
}

type counts map[cell]sum

func (c counts) add(at cell, n, total int64) {
	at.Name = cut(at.Name)
	s := c[at]
	c[at] = sum{s.N + n, s.Total + total}
}

// maxName is how many characters of a name are kept: what is longer may be too long for an index.
const maxName = 320

func cut(name string) string {
	if len(name) <= maxName || utf8.RuneCountInString(name) <= maxName {
		return name
	}
	return string([]rune(name)[:maxName])
}

func (c counts) addSure(at cell, confidence float64) {
	at.Bin = ConfidenceBin(confidence)
	c.add(at, 1, int64(math.Round(confidence*1e6)))
}

func (c counts) addTime(at cell, d time.Duration) {
	d = max(0, d)
	at.Bin = TimeBin(d)
	c.add(at, 1, d.Milliseconds())
}

// A day is one in UTC, as 2026-11-28.
type day string

// bounds are the first and the last instant of the day as the database has them.
func (d day) bounds() (first, last string) {
	return string(d) + "T00:00:00.000000Z", string(d) + "T23:59:59.999999Z"
}

// count counts a day of an account.
func count(ctx context.Context, q dbquery.Querier, accountID string, of day) (counts, error) {
	c := counts{}
	first, last := of.bounds()
	for _, counted := range []func(context.Context, dbquery.Querier, ...any) error{c.mail, c.categories, c.actions,
		c.answers, c.byHand} {
		if err := counted(ctx, q, accountID, first, last); err != nil {
			return nil, fmt.Errorf("count %s: %w", of, err)
		}
	}
	return c, nil
}

type named struct {
	Name string `db:"name"`
	N    int64  `db:"n"`
}

func (c counts) mail(ctx context.Context, q dbquery.Querier, args ...any) error {
	var rows []named
	err := dbquery.Select(ctx, q, &rows, sqlSenders, args...)
	for _, r := range rows {
		c.add(cell{Dimension: Sender, Name: r.Name}, r.N, 0)
	}
	return err
}

func (c counts) categories(ctx context.Context, q dbquery.Querier, args ...any) error {
	var rows []struct {
		Name       string  `db:"name"`
		Confidence float64 `db:"confidence"`
	}
	err := dbquery.Select(ctx, q, &rows, sqlCategories, args...)
	for _, r := range rows {
		c.addSure(cell{Dimension: Category, Name: r.Name}, r.Confidence)
	}
	return err
}

type actionRow struct {
	State      postroom.ActionState `db:"state"`
	ApprovalID string               `db:"approval_id"`
	EndedAt    dbtime.Time          `db:"ended_at"`
	Source     postroom.Source      `db:"source"`
	Rule       string               `db:"rule_name"`
	Model      string               `db:"model"`
	Confidence float64              `db:"confidence"`
	Key        string               `db:"decision_key"`
	Came       dbtime.Time          `db:"came"` // zero if the message is gone with its mailbox
	Rejected   bool                 `db:"rejected"`
	Undone     bool                 `db:"undone"`
	Verdict    int                  `db:"verdict"` // 1 for wrong, 2 for right
}

// said is what people said about the action; empty if it was not a person who kept it from being done.
func (r *actionRow) said() string {
	done := r.State == postroom.ActionCompleted
	switch {
	case !done && !r.Rejected:
		return ""
	case r.Rejected, r.Undone, r.Verdict == 1:
		return Corrected
	case r.ApprovalID != "", r.Verdict == 2:
		return Confirmed
	}
	return Unjudged
}

func (c counts) actions(ctx context.Context, q dbquery.Querier, args ...any) error {
	var rows []actionRow
	err := dbquery.Select(ctx, q, &rows, sqlActions, args...)
	for i := range rows {
		c.action(&rows[i])
	}
	return err
}

func (c counts) action(r *actionRow) {
	said := r.said()
	switch {
	case said == "":
		return
	case r.Source == postroom.SourceModel:
		c.addSure(cell{Dimension: Model, Name: r.Model, Outcome: said}, r.Confidence)
	default:
		c.add(cell{Dimension: Rule, Name: r.Rule, Outcome: said}, 1, 0)
	}
	if r.State != postroom.ActionCompleted || r.Came.IsZero() || strings.HasPrefix(r.Key, postroom.BatchKeyPrefix) {
		return
	}
	how := Alone
	if r.ApprovalID != "" {
		how = Asked
	}
	c.addTime(cell{Dimension: ActionTime, Name: string(r.Source), Outcome: how}, r.EndedAt.Sub(r.Came.Time))
}

func (c counts) answers(ctx context.Context, q dbquery.Querier, args ...any) error {
	var rows []struct {
		Outcome     string      `db:"outcome"`
		ReplacedBy  string      `db:"replaced_by"`
		RequestedAt dbtime.Time `db:"requested_at"`
		DecidedAt   dbtime.Time `db:"decided_at"`
	}
	err := dbquery.Select(ctx, q, &rows, sqlAnswers, args...)
	for _, r := range rows {
		if r.ReplacedBy != "" {
			c.add(cell{Dimension: Act, Name: "edited"}, 1, 0)
			continue
		}
		c.add(cell{Dimension: Act, Name: r.Outcome}, 1, 0)
		c.addTime(cell{Dimension: AnswerTime, Name: r.Outcome}, r.DecidedAt.Sub(r.RequestedAt.Time))
	}
	return err
}

func (c counts) byHand(ctx context.Context, q dbquery.Querier, args ...any) error {
	var undone int64
	if err := dbquery.Get(ctx, q, &undone, sqlUndone, args...); err != nil {
		return err
	}
	if undone > 0 {
		c.add(cell{Dimension: Act, Name: "undone"}, undone, 0)
	}
	var rows []named
	err := dbquery.Select(ctx, q, &rows, sqlByHand, args...)
	for _, r := range rows {
		c.add(cell{Dimension: Act, Name: r.Name}, r.N, 0)
	}
	return err
}
