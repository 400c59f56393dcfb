package enrich

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/queue"
)

// Job enriches one message; [Service.Arrived] enqueues it.
const Job queue.Type[Payload] = "enrich"

// A Payload names the message of a [Job], by its UUID.
type Payload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"`
	// Again is the stage whose result a person has rejected or answered: only that one is looked at. Empty for the first
	// job of a message, which looks at all.
	Again Stage `json:"again,omitempty"`
	// Refused is why the model has refused the message as it was to decide about it: it is not asked then.
	Refused string `json:"refused,omitempty"`
}

func (s *Service) newJob(p Payload) queue.NewJob {
	options := &queue.Options{MaxAttempts: attempts.Unattended}
	if s.cfg.LimitKey != nil {
		options.LimitKey = s.cfg.LimitKey(p.AccountID)
	}
	if p.Again == "" { // a person's words have a job each: one that runs may have read the row before
		options.Key = queue.Forever(fmt.Sprintf("%s:%s:%s", Job, p.AccountID, p.MessageID))
	}
	return Job.New(p, options)
}

// Arrived begins with a message, in the transaction that records what was decided about it: it makes its row and
// enqueues its job, once. answer is what the model has said besides its decision, to [Service.Question]; nil if it was
// not asked.
func (s *Service) Arrived(ctx context.Context, tx queue.Tx, msg *postroom.Message, answer *postroom.ModelAnswer) error {
	if err := begin(ctx, tx, msg, answer); err != nil {
		return err
	}
	p := Payload{AccountID: msg.AccountID, MessageID: msg.ID}
	if answer != nil {
		p.Refused = bounded(answer.Refused, maxReasoning)
	}
	_, err := s.cfg.Queue.EnqueueTx(ctx, tx, s.newJob(p))
	return err
}

// Register registers the handler of [Job], with the options.
func (s *Service) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	if err := fields.Required("llm/enrich: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	queue.Handle(d, Job, s.handle, opts...)
	return nil
}

// A run is one attempt of a job.
type run struct {
	*Service
	w     *queue.Work[Payload]
	msg   *postroom.Message
	e     *Enrichment // as it is stored
	began time.Time
}

// handle enriches a message. The failure that ends the job is that of the stages that are open.
func (s *Service) handle(ctx context.Context, w *queue.Work[Payload]) error {
	r := &run{Service: s, w: w, began: time.Now()}
	err := r.begin(ctx)
	if err == nil {
		err = r.run(bodytext.With(ctx))
	}
	if err == nil {
		err = r.complete(ctx)
	}
	if err != nil && w.Ends(err) {
		return errors.Join(err, r.giveUp(ctx, err))
	}
	return err
}

// begin reads the message and what is known of it.
func (r *run) begin(ctx context.Context) error {
	msg, err := r.cfg.Messages.Message(ctx, r.w.Payload.AccountID, r.w.Payload.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf("enrich message %s: it is no longer stored: %w", r.w.Payload.MessageID, err))
	}
	if err != nil {
		return fmt.Errorf("enrich: %w", err)
	}
	e, err := r.Get(ctx, msg.AccountID, msg.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf("enrich message %s: what was known of it was removed: %w", msg.ID, err))
	}
	if err == nil && e.gaveUp() {
		err = r.w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			e, err = change(ctx, tx, msg.AccountID, msg.ID, func(e *Enrichment) error {
				e.tryAgain()
				e.settle(r.cfg.Stages, r.cfg.SureFrom)
				return nil
			})
			return err
		})
	}
	r.msg, r.e = msg, e
	return err
}

// run ends the open stages: first those that nobody needs to be asked about, then the others, in their order.
func (r *run) run(ctx context.Context) error {
	facts, seen, err := r.tell(ctx, r.msg)
	if err != nil {
		return err
	}
	for _, s := range r.open() {
		if _, denied := r.e.Denials[s]; denied || facts.told(s).By == "" {
			continue
		}
		if err := r.save(ctx, s, &facts, ""); err != nil {
			return err
		}
	}
	if slices.Contains(r.open(), StageCalendar) && r.e.Denials[StageCalendar].By == "" && seen.hasCalendar() {
		if err := r.readCalendar(ctx); err != nil {
			return err
		}
	}
	if open := r.open(); len(open) > 0 {
		if err := r.ask(ctx, open); err != nil {
			return err
		}
	}
	way := seen.unsubscribe()
	if way == (Unsubscribe{}) || r.w.Payload.Again != "" || !slices.Contains(r.cfg.Stages, StageUnsubscribe) {
		return nil
	}
	return r.step(ctx, StageUnsubscribe, func(e *Enrichment) { e.Unsubscribe = way })
}

// open are the stages that this job ends.
func (r *run) open() []Stage { return r.e.open(r.stages()) }

// stages are those that this job looks at.
func (r *run) stages() []Stage {
	if again := r.w.Payload.Again; again != "" {
		return []Stage{again}
	}
	return r.cfg.Stages
}

// readCalendar ends the stage with what the calendars in the message say.
func (r *run) readCalendar(ctx context.Context) error {
	var facts Facts
	if r.cfg.Calendars == nil {
		facts.CalendarTold = Told{ByNone, 0, "it carries a calendar, and nothing is configured that reads it"}
		return r.save(ctx, StageCalendar, &facts, "")
	}
	read, err := queue.Step(ctx, r.w, "calendars", func(ctx context.Context) (reading, error) {
		return r.readCalendars(ctx, r.msg)
	})
	if err != nil {
		return err
	}
	facts.Events, facts.CalendarTold = read.Events, Told{ByCalendar, 1, "its calendar says so"}
	return r.save(ctx, StageCalendar, &facts, read.Fault)
}

// A said is the result of asking the model, as a step of the job.
type said struct {
	Stages []Stage              `json:"stages"` // those that were asked about
	Answer postroom.ModelAnswer `json:"answer"`
	Fault  string               `json:"fault,omitempty"` // why it is not usable, or not as a whole
}

// ask ends the open stages with one answer of the model: that in which it has decided about the message, if it said
// anything, or one that it is asked for now.
func (r *run) ask(ctx context.Context, open []Stage) error {
	facts, left := Facts{}, open
	if r.e.answer != "" && r.w.Payload.Again == "" {
		facts, _ = r.read(json.RawMessage(r.e.answer), open) // what is wrong in it is asked for
		left = slices.DeleteFunc(slices.Clone(open), func(s Stage) bool { return facts.told(s).By != "" })
	}
	var answer said
	switch why := r.unasked(); {
	case len(left) == 0:
	case r.w.Payload.Refused != "":
		answer.Fault = r.w.Payload.Refused
	case why != "":
		facts.merge(r.untold(ctx, left, why))
	default:
		var err error
		if answer, err = queue.Step(ctx, r.w, "model", func(ctx context.Context) (said, error) {
			return r.askModel(ctx, left)
		}); err != nil {
			return fmt.Errorf("enrich message %s: %w", r.msg.ID, err)
		}
		found, _ := r.read(answer.Answer.JSON, answer.Stages) // the fault says what is wrong in it
		facts.merge(found)
	}
	for _, s := range open {
		fault := ""
		if facts.told(s).By == "" {
			fault = bounded(cmp.Or(answer.Fault, "the model has not said it"), maxReasoning)
		}
		if err := r.step(ctx, s, func(e *Enrichment) {
			if len(answer.Stages) > 0 && s == answer.Stages[0] { // which one attempt stores, once
				e.Calls += answer.Answer.Calls
				e.Tokens += answer.Answer.Tokens
			}
			if len(e.open([]Stage{s})) > 0 { // else another job has answered, or a person since
				r.put(e, s, &facts, fault)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) askModel(ctx context.Context, open []Stage) (said, error) {
	answer, err := r.cfg.Model.Ask(ctx, r.msg, r.question(open, r.e.Denials))
	if errors.Is(err, decide.ErrNoAnswer) {
		r.cfg.Logger.WarnContext(ctx, "a model cannot say what was asked about a message; it is left open", "account",
			r.msg.AccountID, "message", r.msg.ID, "stages", open, "error", err)
		return said{open, answer, err.Error()}, nil
	}
	return said{Stages: open, Answer: answer}, err
}

// unasked says why no model is asked about the message; empty if one is.
func (r *run) unasked() string {
	switch {
	case r.cfg.Model == nil:
		return "no model is configured"
	case r.w.Payload.Again == "" && r.cfg.ModelAge > 0 && !r.msg.ReceivedAt.IsZero() &&
		r.w.Job.CreatedAt.Sub(r.msg.ReceivedAt) > r.cfg.ModelAge:
		return fmt.Sprintf("a model is not asked about mail that is older than %v", r.cfg.ModelAge)
	}
	return ""
}

// untold are the results of stages that no model is asked about.
func (r *run) untold(ctx context.Context, stages []Stage, why string) (f Facts) {
	none := Told{ByNone, 0, "the form of the mail does not tell it, and " + why}
	for _, s := range stages {
		switch s {
		case StageCategory:
			f.CategoryTold = none
		case StageImportance:
			f.ImportanceTold = none
		case StageCalendar:
			f.CalendarTold = none
			if _, denied := r.e.Denials[s]; denied {
				continue
			}
			if f.Events = byText(ctx, r.msg); len(f.Events) > 0 {
				f.CalendarTold = Told{ByText, byTextConfidence, "its text says this day and time"}
			}
		case StageUnsubscribe: // the header tells it
		}
	}
	return f
}

// byTextConfidence is far below the default of SureFrom: that a text says a time makes it no appointment.
const byTextConfidence = 0.5

// save stores the result of a stage, or why it has failed for good, as a step of the job.
func (r *run) save(ctx context.Context, s Stage, facts *Facts, fault string) error {
	return r.step(ctx, s, func(e *Enrichment) { r.put(e, s, facts, fault) })
}

func (r *run) put(e *Enrichment, s Stage, facts *Facts, fault string) {
	if fault == "" {
		facts.apply(e, s)
		return
	}
	if e.Faults == nil {
		e.Faults = map[Stage]string{}
	}
	e.Faults[s] = fault
}

// step changes what is known of the message, as the step of the job that has the name of the stage. A later attempt
// goes on after it.
func (r *run) step(ctx context.Context, s Stage, fn func(e *Enrichment)) error {
	_, err := queue.StepTx(ctx, r.w, string(s), func(ctx context.Context, tx queue.Tx) (State, error) {
		e, err := change(ctx, tx, r.msg.AccountID, r.msg.ID, func(e *Enrichment) error {
			fn(e)
			e.settle(r.cfg.Stages, r.cfg.SureFrom)
			r.count(e)
			return nil
		})
		if err != nil {
			return "", err
		}
		r.e = e
		return e.State, nil
	})
	return err
}

// count adds the time that has passed since it was counted last.
func (r *run) count(e *Enrichment) {
	now := time.Now()
	e.ProcessingTime += now.Sub(r.began)
	r.began = now
}

// complete ends the enrichment and the job, with what follows.
func (r *run) complete(ctx context.Context) error {
	e := *r.e
	e.end(time.Now())
	var record func(ctx context.Context, tx queue.Tx) error
	if r.cfg.OnEnded != nil {
		var err error
		if record, err = r.cfg.OnEnded(ctx, r.msg, &e); err != nil {
			return fmt.Errorf("enrich message %s: %w", r.msg.ID, err)
		}
	}
	return r.w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := change(ctx, tx, r.msg.AccountID, r.msg.ID, func(e *Enrichment) error {
			r.count(e)
			e.answer = ""
			if len(e.open(r.cfg.Stages)) == 0 { // no other is still at work on it
				e.end(queue.Now(tx))
			}
			return nil
		})
		if err == nil && record != nil {
			err = record(ctx, tx)
		}
		return err
	})
}
