package llm

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/queue"
)

// A CallState says whether and how a call has ended.
type CallState string

// The states of calls.
const (
	Calling  CallState = "calling" // it has not ended, or its process has died; its tokens and cost are the maximum
	Answered CallState = "answered"
	Failed   CallState = "failed"
	Refused  CallState = "refused" // the model, or a filter of its provider, refuses to answer
	Cached   CallState = "cached"  // a stored answer was returned, and no call was made
	// Unaffordable calls were not made: they could have exceeded a budget.
	Unaffordable CallState = "unaffordable"
)

// A Reuse says why a stored answer was returned.
type Reuse string

// The reasons.
const (
	EqualRequest Reuse = "equal_request" // the request was equal, word for word
	SameQuestion Reuse = "same_question" // the host has named both requests alike, see [Request.Same]
	SameTemplate Reuse = "same_template" // the mail has the template of another, see package llm/decide
)

// A Call is the record of one call of a model.
type Call struct {
	ID        string
	AccountID string
	Purpose   string
	Model     string // provider::model
	State     CallState
	Failure   string // the error, without keys and without text of mails
	Usage     Usage  // input and output
	Cost      Money
	Latency   time.Duration
	TraceID   string // of OpenTelemetry; empty without a trace
	RequestID string
	At        time.Time
	About     string // as in the request
	Prompt    string // the hash of the first prompt, see [Request.PromptHash]; equal for the corrections of an answer
	Answer    string // the text and the tool calls, cut to 8000 characters; empty without an answer

	// ReusedFrom is the id of the call that has made a stored answer, which may be off the record by now, and ReusedWhy is
	// the reason. Both are empty for other calls, and for those before they were recorded.
	ReusedFrom string
	ReusedWhy  Reuse
}

type callRow struct {
	ID           string         `db:"id"`
	AccountID    string         `db:"account_id"`
	Purpose      string         `db:"purpose"`
	Model        string         `db:"model"`
	State        string         `db:"state"`
	Failure      sql.NullString `db:"failure"`
	InputTokens  int            `db:"input_tokens"`
	OutputTokens int            `db:"output_tokens"`
	Cost         Money          `db:"cost"`
	LatencyMS    int64          `db:"latency_ms"`
	TraceID      sql.NullString `db:"trace_id"`
	RequestID    sql.NullString `db:"request_id"`
	CreatedAt    dbtime.Time    `db:"created_at"`
	About        string         `db:"about"`
	Prompt       string         `db:"prompt"`
	Answer       sql.NullString `db:"answer"`
	ReusedFrom   sql.NullString `db:"reused_from"`
	ReusedWhy    sql.NullString `db:"reused_why"`
}

// Calls returns the calls from a time to another, the second excluded, in order and at most limit of them.
func (r *Records) Calls(ctx context.Context, from, to time.Time, limit int) ([]Call, error) {
	return r.calls(ctx, sqlCalls, dbtime.Of(from), dbtime.Of(to), limit)
}

// CallsAbout returns the calls of an account that were about something, such as the id of a message, in order and at
// most limit of them.
func (r *Records) CallsAbout(ctx context.Context, accountID, about string, limit int) ([]Call, error) {
	return r.calls(ctx, sqlCallsAbout, about, accountID, limit)
}

func (r *Records) calls(ctx context.Context, query string, args ...any) ([]Call, error) {
	var rows []callRow
	if err := dbquery.Select(ctx, r.cfg.DB.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read calls of models: %w", err)
	}
	calls := make([]Call, len(rows))
	for i, row := range rows {
		calls[i] = row.call()
	}
	return calls, nil
}

func (row *callRow) call() Call {
	return Call{
		ID: row.ID, AccountID: row.AccountID, Purpose: row.Purpose, Model: row.Model, State: CallState(row.State),
		Failure: row.Failure.String, Usage: Usage{InputTokens: row.InputTokens, OutputTokens: row.OutputTokens},
		Cost: row.Cost, Latency: time.Duration(row.LatencyMS) * time.Millisecond, TraceID: row.TraceID.String,
		RequestID: row.RequestID.String, At: row.CreatedAt.Time,
		About: row.About, Prompt: row.Prompt, Answer: row.Answer.String,
		ReusedFrom: row.ReusedFrom.String, ReusedWhy: Reuse(row.ReusedWhy.String),
	}
}

// Call returns a call by its id; [postroom.ErrNotFound] if it is not on record, or no longer.
func (r *Records) Call(ctx context.Context, id string) (Call, error) {
	var row callRow
	err := dbquery.Get(ctx, r.cfg.DB.Reader(), &row, sqlCall, id)
	if errors.Is(err, sql.ErrNoRows) {
		return Call{}, fmt.Errorf("the call %s of a model: %w", id, postroom.ErrNotFound)
	}
	if err != nil {
		return Call{}, fmt.Errorf("read a call of a model: %w", err)
	}
	return row.call(), nil
}

// A CallFilter selects calls; empty fields select all.
type CallFilter struct {
	AccountID string
	Model     string // provider::model
	// Before is the id of a call: only older calls are listed. The id of the last call of a page selects the next page.
	Before string
	// Limit is the maximum number of calls. Default 50; bounds 1 to 101.
	Limit int
}

const (
	defaultCalls = 50
	maxCalls     = 101 // a page, and whether there is another
)

// Newest returns a page of calls, the newest first.
func (r *Records) Newest(ctx context.Context, f CallFilter) ([]Call, error) {
	if f.Limit == 0 {
		f.Limit = defaultCalls
	}
	if f.Limit < 1 || f.Limit > maxCalls {
		return nil, fmt.Errorf("llm: CallFilter.Limit is %d; it must be within 1 and %d", f.Limit, maxCalls)
	}
	query, args := f.build()
	return r.calls(ctx, query, args...)
}

// build names only the columns that are restricted: each combination has an index of its own.
func (f CallFilter) build() (query string, args []any) {
	clauses := []string{sqlCallColumns, "WHERE TRUE"}
	for _, c := range []struct{ clause, value string }{
		{"account_id =", f.AccountID}, {"model =", f.Model}, {"id <", f.Before},
	} {
		if c.value != "" {
			args = append(args, c.value)
			clauses = append(clauses, fmt.Sprintf("  AND %s $%d", c.clause, len(args)))
		}
	}
	args = append(args, f.Limit)
	clauses = append(clauses, "ORDER BY id DESC", fmt.Sprintf("LIMIT $%d", len(args)))
	return strings.Join(clauses, "\n"), args
}

// A ReusedAnswer is an answer about one message that was given about another, without a request.
type ReusedAnswer struct {
	AccountID, Purpose string
	Model              string // if the call that had made the answer is no longer on record
	About              string // as in a request
	Of                 string // the message that the model was asked about
	Prompt             string // the hash of the prompt that was not sent, see [Request.PromptHash]
	Answer             string
	Why                Reuse
}

// RecordReuse puts on record that an answer was given again by a host's own rule. Answers that [Metered] gives again
// are on record already.
func (r *Records) RecordReuse(ctx context.Context, a ReusedAnswer) error {
	call := &meteredCall{account: a.AccountID, purpose: a.Purpose, about: a.About, prompt: a.Prompt,
		answer: dbvalue.Clean(cleantext.Cut(a.Answer, maxTranscript)), reusedWhy: a.Why}
	return r.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		var made struct {
			ID    string `db:"id"`
			Model string `db:"model"`
		}
		err := dbquery.Get(ctx, tx, &made, sqlAnswerAbout, a.Of, a.AccountID, a.Purpose)
		if err != nil && !errors.Is(err, sql.ErrNoRows) { // its record may be pruned
			return fmt.Errorf("look for the answer about message %s: %w", a.Of, err)
		}
		call.reusedFrom = made.ID
		return call.insert(ctx, tx, cmp.Or(made.Model, a.Model), Cached)
	})
}
