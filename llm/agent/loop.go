package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// A run is one run under way.
type run struct {
	agent    *Agent
	profile  *Profile
	client   llm.Client
	journal  journal
	id       string
	model    string // that answered last
	scope    Scope
	prepared *prepared

	used   Usage
	n      int            // of the last step
	equal  map[string]int // calls by tool and arguments
	narrow bool           // a tool was called whose results are for the correspondent alone
	owners []string       // links and addresses in the owner's words
}

// A journal makes the calls of a run once, whatever happens to the process, and records them.
type journal interface {
	// prepare returns what fn has read, or what it had read in an earlier attempt.
	prepare(ctx context.Context, fn func(ctx context.Context) (prepared, error)) (prepared, error)
	// once returns the result of fn, or that of an earlier attempt.
	once(ctx context.Context, name string, fn func(ctx context.Context) (result, error)) (result, error)
	record(ctx context.Context, s Step) error
	// dry reports that nothing may be changed.
	dry() bool
}

// A result is what a call has returned.
type result struct {
	Response *llm.Response `json:"response,omitempty"`
	Text     string        `json:"text,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Final    bool          `json:"final,omitempty"` // asking the model again would fail alike
	Millis   int64         `json:"ms"`
}

// A boundError ends a run: a bound is reached, or the model refuses.
type boundError struct{ reason string }

func (e *boundError) Error() string { return e.reason }

func bound(format string, args ...any) error { return &boundError{fmt.Sprintf(format, args...)} }

// A conclusion is how a run has ended.
type conclusion struct {
	outcome  Outcome
	decision postroom.Decision
	bound    string // why it was stopped; empty if the model has ended it
}

// conclude works on the message until there is an outcome.
func (r *run) conclude(ctx context.Context) (conclusion, error) {
	c, err := r.loop(ctx)
	if reached := (*boundError)(nil); errors.As(err, &reached) {
		return r.stopped(reached.reason), nil
	}
	return c, err
}

// stopped hands the message to a person if the profile allows that, and does nothing otherwise.
func (r *run) stopped(reason string) conclusion {
	c := conclusion{outcome: OutcomeNone, bound: reason}
	action, p := postroom.None, postroom.Parameters(nil)
	if slices.Contains(r.profile.Outcomes, OutcomeEscalate) {
		c.outcome, action, p = OutcomeEscalate, postroom.Escalate, postroom.Parameters{"reason": reason}
	}
	c.decision = r.decision(action, p, given{Reason: reason, Confidence: 1})
	return c
}

func (r *run) loop(ctx context.Context) (c conclusion, err error) {
	answer, err := r.ask(ctx, &llm.Request{Messages: r.prepared.readerMessages(), Output: readingForm,
		Purpose: "agent.read"})
	if err != nil {
		return c, err
	}
	messages := r.prepared.loopMessages(r.profile, parseReading(answer.Text, r.prepared.Mail))
	tools := r.tools()
	for {
		resp, err := r.ask(ctx, &llm.Request{Messages: messages, Tools: tools, Purpose: "agent.act"})
		if err != nil {
			return c, err
		}
		answers, end, err := r.take(ctx, resp)
		if err != nil || end != nil {
			if end != nil {
				c = *end
			}
			return c, err
		}
		messages = append(append(messages, resp.Message()), answers...)
	}
}

// tools are what the model may call.
func (r *run) tools() (list []llm.Tool) {
	for _, name := range r.profile.Tools {
		if t := r.agent.tools[name]; r.offers(&t) {
			list = append(list, t.offered())
		}
	}
	for _, o := range r.profile.Outcomes {
		list = append(list, endings[o].tool)
	}
	return list
}

// offers reports whether the tool may be called about this message.
func (r *run) offers(t *Tool) bool {
	return t.call != nil && (t.Audience == Participants || r.prepared.Correspondent != "")
}

// The limits of the model's answers.
const (
	maxOutputTokens = 1024
	maxAnswerBytes  = 64 << 10
)

// ask makes a call of the model within the bounds.
func (r *run) ask(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	limits := &r.profile.Limits
	req.MaxOutputTokens, req.AccountID, req.About = maxOutputTokens, r.scope.AccountID, r.scope.Message.ID
	req.Random = []string{r.prepared.Mark}
	switch tokens := r.used.Tokens + req.EstimateTokens(); {
	case r.used.ModelCalls == limits.ModelCalls:
		return nil, bound("the run has made %d calls of the model, which is its limit", limits.ModelCalls)
	case tokens > limits.Tokens:
		return nil, bound("the next call of the model could bring the run to %d tokens, and its limit is %d", tokens, limits.Tokens)
	case r.used.Cost >= limits.Cost:
		return nil, bound("the run has cost %v, and its limit is %v", r.used.Cost, limits.Cost)
	}
	r.used.ModelCalls++
	last := req.Messages[len(req.Messages)-1]
	res, err := r.call(ctx, StepModel, req.Purpose, last.Text, func(ctx context.Context) (result, error) {
		return r.complete(ctx, req)
	})
	switch {
	case err != nil:
		return nil, err
	case res.Response == nil && res.Final:
		return nil, bound("the model cannot answer: %s", res.Fault)
	case res.Response == nil: // too slow: the same again, within the bounds
		return r.ask(ctx, req)
	}
	r.model = res.Response.Model
	return res.Response, nil
}

// complete asks the model. A failure that the message causes is a result: it would recur.
func (r *run) complete(ctx context.Context, req *llm.Request) (result, error) {
	resp, err := llm.Complete(ctx, r.client, req)
	var e *llm.Error
	switch {
	case err == nil && sizeOf(resp) > maxAnswerBytes:
		return result{Fault: "its answer is too long", Final: true}, nil
	case err == nil:
		return result{Response: resp}, nil
	case errors.As(err, &e) && e.Class() == llm.Fatal && !errors.Is(e, llm.ErrBadRequest):
		return result{Fault: cmp.Or(e.Reason, llm.ErrUnavailable).Error(), Final: true}, nil
	}
	return result{}, err
}

func sizeOf(resp *llm.Response) int {
	size := len(resp.Text)
	for _, c := range resp.ToolCalls {
		size += len(c.Name) + len(c.Arguments) + len(c.ID)
	}
	return size
}

// call makes one call within the time of the run, and records it.
func (r *run) call(ctx context.Context, kind StepKind, name, input string,
	fn func(ctx context.Context) (result, error)) (result, error) {
	left := r.profile.Limits.RunTime - r.used.Duration
	if left <= 0 {
		return result{}, bound("the run has taken %v, which is its limit", r.profile.Limits.RunTime)
	}
	r.n++
	res, err := r.journal.once(ctx, fmt.Sprintf("call %d", r.n), func(ctx context.Context) (result, error) {
		return timed(ctx, min(left, r.profile.Limits.CallTime), fn)
	})
	if err != nil {
		return res, fmt.Errorf("%s %s: %w", kind, name, err)
	}
	s := Step{RunID: r.id, N: r.n, Kind: kind, Name: name, Input: input, Output: res.Text, Fault: res.Fault,
		Duration: time.Duration(res.Millis) * time.Millisecond}
	if res.Response != nil {
		s.Tokens, s.Cost, s.Output = res.Response.Usage.Total(), res.Response.Cost, transcript(res.Response)
	}
	r.used.add(&s)
	return res, r.journal.record(ctx, s)
}

// timed bounds a call. One that takes too long has a fault as its result, so that it counts.
func timed(ctx context.Context, most time.Duration, fn func(ctx context.Context) (result, error)) (result, error) {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	start := time.Now()
	res, err := fn(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		res, err = result{Fault: fmt.Sprintf("it did not answer within %v", most)}, nil
	}
	res.Millis = time.Since(start).Milliseconds()
	return res, err
}

// transcript is an answer as it is recorded.
func transcript(resp *llm.Response) string {
	lines := []string{resp.Text}
	for _, c := range resp.ToolCalls {
		lines = append(lines, c.Name+" "+c.Arguments)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

const callSomething = "Call one of the tools. The run ends with a call of one whose name begins with " + finishPrefix + "."

// take carries out what the model has called. end is nil unless that was an outcome.
func (r *run) take(ctx context.Context, resp *llm.Response) (answers []llm.Message, end *conclusion, err error) {
	if len(resp.ToolCalls) == 0 {
		return []llm.Message{{Role: llm.RoleUser, Text: callSomething}}, nil, nil
	}
	for _, c := range resp.ToolCalls {
		name, finishes := strings.CutPrefix(c.Name, finishPrefix)
		var text string
		switch {
		case finishes && len(resp.ToolCalls) > 1:
			text = "Nothing is done: end the run with one call alone, after the answers of the others."
		case finishes:
			d, err := r.decide(Outcome(name), []byte(c.Arguments))
			if err == nil {
				return nil, &conclusion{outcome: Outcome(name), decision: d}, nil
			}
			text = "Nothing is done: " + cleantext.Cut(err.Error(), maxReason)
		default:
			if text, err = r.useTool(ctx, c); err != nil {
				return nil, nil, err
			}
		}
		answers = append(answers, llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Text: text})
	}
	return answers, nil, nil
}

// useTool calls a tool within the bounds and returns what the model is shown.
func (r *run) useTool(ctx context.Context, c llm.ToolCall) (string, error) {
	limits := &r.profile.Limits
	if r.used.ToolCalls == limits.ToolCalls {
		return "", bound("the run has made %d calls of tools, which is its limit", limits.ToolCalls)
	}
	r.used.ToolCalls++
	key := c.Name + " " + canonical(c.Arguments)
	if r.equal[key]++; r.equal[key] > limits.EqualCalls {
		return "", bound("the run has called a tool %d times with equal arguments, which is its limit", limits.EqualCalls)
	}
	t := r.agent.tools[c.Name]
	known := slices.Contains(r.profile.Tools, c.Name) && r.offers(&t)
	name := cleantext.Cut(cleantext.OneLine(c.Name), maxField)
	res, err := r.call(ctx, StepTool, name, c.Arguments, func(ctx context.Context) (result, error) {
		if !known {
			return result{Fault: "there is no such tool here"}, nil
		}
		return r.carryOut(ctx, &t, c.Arguments)
	})
	if err != nil {
		return "", err
	}
	if res.Fault != "" {
		return "That did not work: " + cleantext.Cut(res.Fault, maxReason), nil
	}
	r.narrow = r.narrow || t.Audience == CorrespondentOnly
	if t.OwnersWords {
		r.remember(res.Text)
	}
	return cleantext.Enclose(r.prepared.Mark, res.Text), nil
}

// maxToolResult bounds the result of a tool, in characters.
const maxToolResult = maxThreadText + 2000

func (r *run) carryOut(ctx context.Context, t *Tool, arguments string) (result, error) {
	if r.journal.dry() && t.Danger != postroom.Safe {
		return result{Fault: "it changes something, and this is a replay"}, nil
	}
	if err := checkArguments([]byte(arguments)); err != nil {
		return result{Fault: err.Error()}, nil //nolint:nilerr // the model is shown it
	}
	scope := r.scope
	scope.Key = fmt.Sprintf("%s:%d", r.id, r.n)
	text, err := t.call(ctx, &scope, []byte(arguments))
	if f := (*FaultError)(nil); errors.As(err, &f) {
		return result{Fault: f.Text}, nil
	}
	return result{Text: cleantext.Cut(cleantext.Visible(text), maxToolResult)}, err
}

// canonical is the same for equal arguments, however they are written.
func canonical(arguments string) string {
	var plain any
	if json.Unmarshal([]byte(arguments), &plain) != nil {
		return arguments
	}
	encoded, err := json.Marshal(plain)
	if err != nil {
		return arguments
	}
	return string(encoded)
}
