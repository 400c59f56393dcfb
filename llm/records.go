package llm

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package (llm_calls, llm_spend, llm_answers, llm_outages) or brings them up to
// date. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm", migrations)
}

// RecordsConfig configures [Records]. It is copied and checked once, by [NewRecords].
type RecordsConfig struct {
	// DB holds the records. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Zone is where the days of budgets begin at midnight. Default UTC.
	Zone *time.Location
}

// Records are the calls, their costs, and the stored answers. [NewRecords] makes them.
type Records struct{ cfg RecordsConfig }

// NewRecords makes records; a missing field is an error that names it.
func NewRecords(cfg RecordsConfig) (*Records, error) {
	if err := fields.Required("llm: RecordsConfig.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return &Records{cfg: cfg}, nil
}

// A CallState says whether and how a call has ended.
type CallState string

// The states of calls.
const (
	Calling  CallState = "calling" // it has not ended, or its process has died; its tokens and cost are the maximum
	Answered CallState = "answered"
	Failed   CallState = "failed"
	Cached   CallState = "cached" // a stored answer was returned, and no call was made
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
		calls[i] = Call{
			ID: row.ID, AccountID: row.AccountID, Purpose: row.Purpose, Model: row.Model, State: CallState(row.State),
			Failure: row.Failure.String, Usage: Usage{InputTokens: row.InputTokens, OutputTokens: row.OutputTokens},
			Cost:    row.Cost,
			Latency: time.Duration(row.LatencyMS) * time.Millisecond, TraceID: row.TraceID.String,
			RequestID: row.RequestID.String, At: row.CreatedAt.Time,
			About: row.About, Prompt: row.Prompt, Answer: row.Answer.String,
		}
	}
	return calls, nil
}

// Prune deletes the records of calls made before the time, and expired answers. It returns the number of calls. The
// spending of each day stays.
func (r *Records) Prune(ctx context.Context, before time.Time) (int, error) {
	if _, err := dbquery.DeleteInBatches(ctx, r.cfg.DB, sqlPruneAnswers, dbtime.Of(time.Now())); err != nil {
		return 0, fmt.Errorf("prune the answers of models: %w", err)
	}
	n, err := dbquery.DeleteInBatches(ctx, r.cfg.DB, sqlPruneCalls, dbtime.Of(before))
	if err != nil {
		return n, fmt.Errorf("prune records of models: %w", err)
	}
	return n, nil
}
