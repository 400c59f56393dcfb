package llm

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// MeteredConfig configures a [Metered] client. It is copied and checked once, by [NewMetered].
type MeteredConfig struct {
	// Client calls the model. Required. It calls one model: a [Fallback] is made of metered clients, not metered itself.
	Client Client
	// Records hold the calls, the budgets and the answers. Required.
	Records *Records
	// Model is the model as provider::model. Default: the result of the client's Model method, which those of the
	// providers have.
	Model string
	// Price is the price of the model; a local model has the zero Price. Default nil: unknown, and counted as zero.
	// Required with a budget in money.
	Price *Price
	// AccountBudget limits the spending of each account on a day, TotalBudget that of all accounts. A call that could
	// exceed one is refused with [ErrBudget] before it is made.
	AccountBudget, TotalBudget Budget
	// MaxOutputTokens bounds answers where the request does not. A budget counts it for a call until its answer is there.
	// Default 1024.
	MaxOutputTokens int
	// KeepAnswers is how long an answer is given again to an equal request. Negative: not at all. Default 24 hours.
	KeepAnswers time.Duration
	// ShareAnswers lets accounts reuse the answers that another account has paid for. They may quote the other's mail.
	// Default false.
	ShareAnswers bool
	// Answers stores the answers. The database stores those that it cannot, and a call waits for it only as long as it
	// allows. Default nil: the database of Records, in the transaction that records the call.
	Answers AnswerCache
	// Logger logs failures to record a call. Default nil: slog.Default().
	Logger *slog.Logger
}

// A Metered client records every call, keeps budgets, and returns the stored answer to an equal request.
//
// Before a call, one transaction takes the maximum cost of the call from the budgets. After it, one transaction records
// the call, corrects the budgets and stores the answer: a paid answer is not asked for again, whatever happens to the
// caller. If the process dies in between, the call stays on record and counts at its maximum cost.
type Metered struct{ cfg MeteredConfig }

var _ Client = (*Metered)(nil)

// NewMetered makes a metered client; a bad configuration is an error that names the field.
func NewMetered(cfg MeteredConfig) (*Metered, error) {
	if err := fields.Required("llm: MeteredConfig.Client", cfg.Client, "the client of a provider"); err != nil {
		return nil, err
	}
	if err := fields.Required("llm: MeteredConfig.Records", cfg.Records, "what NewRecords returns"); err != nil {
		return nil, err
	}
	if err := fields.Optional("llm: MeteredConfig.Answers", cfg.Answers); err != nil {
		return nil, err
	}
	if named, ok := cfg.Client.(interface{ Model() string }); ok && cfg.Model == "" {
		cfg.Model = named.Model()
	}
	switch {
	case cfg.Model == "":
		return nil,
			errors.New("llm: MeteredConfig.Model is empty, and the client does not name its model; give it as provider::model")
	case cfg.Price == nil && (cfg.AccountBudget.Cost != 0 || cfg.TotalBudget.Cost != 0):
		return nil, errors.New("llm: MeteredConfig.Price is nil; a budget in money needs it")
	case min(cfg.AccountBudget.Tokens, cfg.TotalBudget.Tokens) < 0 ||
		min(cfg.AccountBudget.Cost, cfg.TotalBudget.Cost) < 0 || cfg.MaxOutputTokens < 0:
		return nil, errors.New("llm: MeteredConfig: budgets and MaxOutputTokens must be at least 0")
	}
	if cfg.Price == nil {
		cfg.Price = &Price{}
	}
	if err := cfg.Price.validate(); err != nil {
		return nil, fmt.Errorf("llm: MeteredConfig.Price: %w", err)
	}
	if cfg.MaxOutputTokens == 0 {
		cfg.MaxOutputTokens = 1024
	}
	if cfg.KeepAnswers == 0 {
		cfg.KeepAnswers = 24 * time.Hour
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Metered{cfg: cfg}, nil
}

// Model is the model as provider::model.
func (m *Metered) Model() string { return m.cfg.Model }

// Complete returns a kept answer, or calls the model within the budgets.
func (m *Metered) Complete(ctx context.Context, req *Request) (*Response, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	bounded := *req
	if bounded.MaxOutputTokens == 0 {
		bounded.MaxOutputTokens = m.cfg.MaxOutputTokens
	}
	key := m.key(&bounded)
	if kept, err := m.kept(ctx, &bounded, key); err != nil || kept != nil {
		return kept, err
	}
	begun, err := m.begin(ctx, &bounded)
	if err != nil {
		return nil, err
	}
	if begun.spent != nil {
		return nil, errors.Join(begun.spent.failure, m.refuse(context.WithoutCancel(ctx), begun))
	}
	start := time.Now()
	resp, err := Complete(ctx, m.cfg.Client, &bounded)
	begun.latency = time.Since(start)
	if err == nil {
		resp.Cost, resp.CallID = m.cfg.Price.Of(resp.Usage), begun.id
	}
	// The call is recorded even if the caller has gone.
	if fault := m.finish(context.WithoutCancel(ctx), begun, key, resp, err); fault != nil {
		m.cfg.Logger.ErrorContext(ctx, "a call of a model could not be recorded", "call_id", begun.id, "model", m.cfg.Model,
			"error", fault)
	}
	return resp, err
}

// key names the answer of a request.
func (m *Metered) key(req *Request) string {
	key := m.cfg.Model + ":" + req.Fingerprint()
	if !m.cfg.ShareAnswers {
		key += ":" + req.AccountID
	}
	return key
}

// kept returns the answer that is kept for the key, or nil.
func (m *Metered) kept(ctx context.Context, req *Request, key string) (*Response, error) {
	if m.cfg.KeepAnswers < 0 {
		return nil, nil
	}
	answer, ok, err := m.answerOf(ctx, key)
	if err != nil || !ok {
		return nil, err
	}
	db := m.cfg.Records.cfg.DB
	var resp Response
	if json.Unmarshal(answer, &resp) != nil {
		return nil, nil //nolint:nilerr // what cannot be read is asked for again
	}
	resp.Cached, resp.Cost, resp.Usage = true, 0, Usage{}
	call := callOf(req)
	call.answer, call.reusedFrom, call.reusedWhy = transcript(&resp), resp.CallID, EqualRequest
	if req.Same != "" {
		call.reusedWhy = SameQuestion
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return call.insert(ctx, tx, m.cfg.Model, Cached) })
	if err != nil {
		return nil, err
	}
	return &resp, replay(req, &resp)
}

// replay streams a kept answer in one piece for its text and each tool call.
func replay(req *Request, resp *Response) error {
	if req.Stream == nil {
		return nil
	}
	if resp.Text != "" {
		if err := req.Stream(Chunk{Text: resp.Text}); err != nil {
			return err
		}
	}
	for _, c := range resp.ToolCalls {
		if err := req.Stream(Chunk{Tool: c.Name, Arguments: c.Arguments}); err != nil {
			return err
		}
	}
	return nil
}

// A meteredCall is a call with its maximum cost.
type meteredCall struct {
	id, account, purpose  string
	about, prompt, answer string
	reusedFrom            string
	reusedWhy             Reuse
	failure               string // of a call that is not made
	day                   string
	reserved              int64 // the tokens that it may use
	usage                 Usage
	cost                  Money
	latency               time.Duration
	spent                 *outage // the budget that the call could exceed; nil if it may be made
}

func callOf(req *Request) *meteredCall {
	return &meteredCall{account: req.AccountID, purpose: req.Purpose, about: req.About, prompt: req.PromptHash()}
}

// begin records the call and takes its maximum cost from the budgets.
func (m *Metered) begin(ctx context.Context, req *Request) (*meteredCall, error) {
	records := m.cfg.Records
	call := callOf(req)
	call.usage = Usage{InputTokens: req.EstimateTokens() - req.MaxOutputTokens, OutputTokens: req.MaxOutputTokens}
	call.reserved, call.cost = int64(call.usage.Total()), m.cfg.Price.Of(call.usage)
	err := records.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := queue.Now(tx)
		call.day = records.day(now)
		call.spent = nil // the transaction may run again
		if err := m.spend(ctx, tx, call, Spend{1, call.reserved, call.cost}, now); err != nil {
			return err
		}
		return call.insert(ctx, tx, m.cfg.Model, Calling)
	})
	if errors.Is(err, errSpent) {
		err = nil
	}
	return call, err
}

// errSpent rolls back the spending of a call that exceeds a budget.
var errSpent = errors.New("a budget is spent")

// spend adds to the spending of all and of the account, in this order, so that two transactions do not deadlock. With a
// time, it returns errSpent if that exceeds a budget, and sets call.spent.
func (m *Metered) spend(ctx context.Context, tx queue.Tx, call *meteredCall, more Spend, now time.Time) error {
	for _, of := range []struct {
		account, name string
		budget        Budget
	}{{"", "all accounts", m.cfg.TotalBudget}, {call.account, "account " + call.account, m.cfg.AccountBudget}} {
		if of.account == "" && of.name != "all accounts" {
			continue // a call without an account is counted once
		}
		var sum Spend
		if err := dbquery.Get(ctx, tx, &sum, sqlSpend, call.day, of.account, more.Calls, more.Tokens, more.Cost); err != nil {
			return fmt.Errorf("count what %s costs: %w", m.cfg.Model, err)
		}
		if !now.IsZero() && of.budget.exceeded(sum) {
			wait := m.cfg.Records.untilTomorrow(now)
			call.spent = &outage{account: of.account, until: now.Add(wait), tokens: call.reserved, failure: &Error{
				Provider: "llm", Model: m.cfg.Model, Reason: ErrBudget, RetryAfter: wait,
				Err: fmt.Errorf("%s may spend %s on a day, and this call could bring it to %d tokens and %v", of.name, of.budget,
					sum.Tokens, sum.Cost),
			}}
			return errSpent
		}
	}
	return nil
}

// untilTomorrow is the time until the next day of the budgets.
func (r *Records) untilTomorrow(now time.Time) time.Duration {
	_, tomorrow := r.Day(now)
	return tomorrow.Sub(now)
}

func (call *meteredCall) insert(ctx context.Context, tx queue.Tx, model string, state CallState) error {
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	call.id = id
	traceID := ""
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		traceID = span.TraceID().String()
	}
	_, err = tx.ExecContext(ctx, sqlInsertCall,
		call.id, call.account, dbvalue.Clean(call.purpose), model, state, nullable(dbvalue.Clean(call.failure)),
		call.usage.InputTokens, call.usage.OutputTokens, call.cost, 0, nullable(traceID), nil, dbtime.Of(queue.Now(tx)),
		dbvalue.Clean(call.about), call.prompt, nullable(call.answer), nullable(call.reusedFrom),
		nullable(string(call.reusedWhy)))
	if err != nil {
		return fmt.Errorf("record a call of %s: %w", model, err)
	}
	return nil
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// finish records the end of the call, replaces its maximum cost by the actual cost, and stores its answer.
func (m *Metered) finish(ctx context.Context, call *meteredCall, key string, resp *Response, failure error) error {
	state, used, requestID, reason := Answered, Usage{}, "", ""
	var e *Error
	switch {
	case failure == nil:
		used, requestID, call.answer = resp.Usage, resp.RequestID, transcript(resp)
	case errors.As(failure, &e):
		state, used, requestID, reason = Failed, e.Usage, e.RequestID, failure.Error()
		if errors.Is(failure, ErrRefused) {
			state = Refused
		}
	default:
		state, reason = Failed, failure.Error()
	}
	cost := m.cfg.Price.Of(used)
	correction := Spend{Tokens: int64(used.Total() - call.usage.Total()), Cost: cost - call.cost}
	if failure != nil && used == (Usage{}) {
		correction.Calls = -1
	}
	out, ended := outageOf(failure), false
	if failure != nil {
		resp = nil
	}
	answer, err := m.keepElsewhere(ctx, key, resp)
	if err != nil {
		return err
	}
	err = m.cfg.Records.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := m.spend(ctx, tx, call, correction, time.Time{}); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, sqlFinishCall, state, nullable(dbvalue.Clean(reason)), used.InputTokens,
			used.OutputTokens, cost,
			call.latency.Milliseconds(), nullable(dbvalue.Clean(requestID)), nullable(call.answer), call.id)
		if err != nil {
			return err
		}
		if out != nil {
			return out.record(ctx, tx, m.cfg.Model)
		}
		if state != Answered {
			return nil
		}
		if ended, err = m.answered(ctx, tx, call); err != nil {
			return err
		}
		return m.keep(ctx, tx, key, answer)
	})
	if err == nil {
		m.tell(ctx, out)
	}
	if err == nil && ended {
		m.cfg.Logger.InfoContext(ctx, "a model that was not asked answers again", "model", m.cfg.Model,
			"account_id", call.account)
	}
	return err
}
