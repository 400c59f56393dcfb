package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/postroom-go/postroom/llm"
)

// Settings are the common fields of every provider's Config.
type Settings struct {
	Package    string // for errors
	Name       string
	Model      string
	Key        llm.Secret
	NeedsKey   bool
	BaseURL    string
	HTTPClient *http.Client
	Timeout    time.Duration
	MaxOutput  int
	MaxBytes   int64
}

// A Caller makes the calls of one client with a time limit, and converts failures to one form.
type Caller struct {
	Name      string
	Model     string
	MaxOutput int
	BaseURL   string
	HTTP      *http.Client

	key     string
	timeout time.Duration
}

// The defaults of the settings.
const (
	defaultTimeout   = 2 * time.Minute
	defaultMaxOutput = 1024
	defaultMaxBytes  = 4 << 20
)

// New checks the settings. The error names the field.
func New(s Settings) (*Caller, error) {
	switch u, err := url.Parse(s.BaseURL); {
	case s.Model == "":
		return nil, fmt.Errorf("%s: Config.Model is empty; it is required: give the provider's name of a model", s.Package)
	case s.NeedsKey && s.Key == "":
		return nil, fmt.Errorf("%s: Config.Key is empty; it is required: give a key of the provider", s.Package)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "":
		return nil, fmt.Errorf("%s: Config.BaseURL is not an http or https address without user and query", s.Package)
	case s.Timeout < 0 || s.MaxOutput < 0 || s.MaxBytes < 0:
		return nil, fmt.Errorf("%s: Config.Timeout, MaxOutputTokens and MaxAnswerBytes must be at least 0", s.Package)
	}
	return &Caller{
		Name: s.Name, Model: s.Model, BaseURL: s.BaseURL, key: string(s.Key),
		MaxOutput: cmp.Or(s.MaxOutput, defaultMaxOutput), timeout: cmp.Or(s.Timeout, defaultTimeout),
		HTTP: httpClient(s.HTTPClient, cmp.Or(s.MaxBytes, defaultMaxBytes)),
	}, nil
}

// FullName returns the model as provider::model.
func (c *Caller) FullName() string { return c.Name + "::" + c.Model }

// String returns the model without the key.
func (c *Caller) String() string { return c.FullName() }

// GoString returns [Caller.String].
func (c *Caller) GoString() string { return c.FullName() }

// LogValue returns [Caller.String].
func (c *Caller) LogValue() slog.Value { return slog.StringValue(c.FullName()) }

// A Fault is a failure within an answer: in the middle of a stream, or as the reason for the end of the answer. The
// function of [Caller.Do] returns it.
type Fault struct { //nolint:errname // Error is the type of package llm
	Reason  error // nil: derived from Code and Text
	Code    string
	Text    string
	Usage   llm.Usage
	Request string
}

// Error returns the text.
func (f *Fault) Error() string { return f.Text }

// StreamError is an error of the caller's Stream function.
type StreamError struct{ Err error }

// Error returns the text of the cause.
func (e *StreamError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StreamError) Unwrap() error { return e.Err }

// Do runs fn, which makes one request, and converts its error to an [*llm.Error]. It drops the texts of SDK errors:
// they contain requests with their headers.
func (c *Caller) Do(ctx context.Context, req *llm.Request,
	fn func(ctx context.Context) (*llm.Response, error)) (*llm.Response, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	watched, seen := watch(timed)
	resp, err := fn(watched)
	now := time.Now()
	if err == nil {
		resp.Model = c.FullName()
		resp.RequestID = cmp.Or(resp.RequestID, requestID(seen.Header))
		resp.Limits = limits(seen.Header, now)
		return resp, nil
	}
	if stream := (*StreamError)(nil); errors.As(err, &stream) {
		return nil, stream.Err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	}
	return nil, c.failure(err, seen, timed.Err() != nil, now)
}

func (c *Caller) failure(err error, seen *Exchange, late bool, now time.Time) *llm.Error {
	e := &llm.Error{
		Provider: c.Name, Model: c.Model, Status: seen.Status, RequestID: requestID(seen.Header),
		RetryAfter: retryAfter(seen.Header, now), Limits: limits(seen.Header, now), Hint: hintOf(seen.Status),
	}
	var fault *Fault
	switch {
	case seen.long:
		e.Reason, e.Err = llm.ErrAnswerTooLong, errors.New("the answer has more bytes than MaxAnswerBytes allows")
	case late:
		e.Reason, e.Err = llm.ErrUnavailable, fmt.Errorf("no whole answer in %v", c.timeout)
	case seen.Status >= 300:
		f := readFailure(seen.body)
		e.Code = clean(f.code(), c.key)
		e.Reason = reasonOf(seen.Status, e.Code, f.Message)
		e.RetryAfter = cmp.Or(e.RetryAfter, f.retryAfter())
		e.Err = errors.New(cmp.Or(clean(f.Message, c.key), "no reason is given"))
	case errors.As(err, &fault):
		e.Code, e.Usage = clean(fault.Code, c.key), fault.Usage
		e.RequestID = cmp.Or(e.RequestID, fault.Request)
		e.Reason = cmp.Or(fault.Reason, reasonOf(seen.Status, fault.Code, fault.Text))
		e.Err = errors.New(cmp.Or(clean(fault.Text, c.key), "no reason is given"))
	default:
		e.Reason, e.Err = llm.ErrUnavailable, errors.New(clean(err.Error(), c.key))
	}
	return e
}

// requestID returns the provider's id of the exchange, if there is one.
func requestID(h http.Header) string {
	return clean(cmp.Or(h.Get("X-Request-ID"), h.Get("Request-Id"), h.Get("X-Goog-Request-Id")), "")
}

// Emit passes a chunk to the stream of the request.
func Emit(req *llm.Request, chunk llm.Chunk) error {
	if req.Stream == nil || chunk == (llm.Chunk{}) {
		return nil
	}
	if err := req.Stream(chunk); err != nil {
		return &StreamError{Err: err}
	}
	return nil
}

// Cut returns the fault of an incomplete answer.
func Cut() error {
	return &Fault{Reason: llm.ErrUnavailable, Text: "the answer is not whole"}
}
