package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
)

// JobProcess runs an agent about one message.
const JobProcess queue.Type[Payload] = "agent_process"

// A Payload names the message and the profile of a [JobProcess]. The user is the id of the account.
type Payload struct {
	UserID    string `json:"user_id"`
	ThreadID  string `json:"thread_id"`
	MessageID string `json:"message_id"`
	Profile   string `json:"profile"`
	ActionID  string `json:"action_id,omitempty"` // the action that began it; empty if a person did
}

// NewJob makes the job that runs a profile about a message. Its key allows one such job, for ever.
func NewJob(msg *postroom.Message, profile string) queue.NewJob {
	return NewSpawnedJob(msg, profile, "")
}

// NewSpawnedJob is NewJob for a run that an action has begun: [Config].Spawned is told of what it decides.
func NewSpawnedJob(msg *postroom.Message, profile, actionID string) queue.NewJob {
	return JobProcess.New(Payload{msg.AccountID, msg.ThreadID, msg.ID, profile, actionID}, &queue.Options{
		MaxAttempts: attempts.Unattended, UserID: msg.AccountID,
		Key: queue.Forever(fmt.Sprintf("%s:%s:%s:%s", JobProcess, msg.AccountID, msg.ID, profile)),
	})
}

// A Ledger records a decision and its consequences. A safety.Ledger is one.
type Ledger interface {
	// Record returns the function that stores the decision in a transaction. It is called before the transaction.
	Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context, tx queue.Tx) (
		postroom.Action, error)
}

// Config configures an [Agent]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the runs. Required; [Migrate] must have prepared it. It must be that of the queue and the ledger.
	DB queue.DB
	// Ledger records the outcomes. Required.
	Ledger Ledger
	// Spawned is called with the action that a run has decided on and the id of the one that began the run, in the
	// transaction that records it; an error rolls that back. Default nil: no call.
	Spawned func(ctx context.Context, tx queue.Tx, cause string, a postroom.Action) error
	// Kinds are the actions that are carried out; a profile with an outcome that has no kind is refused. Default nil:
	// those that package gmail carries out.
	Kinds *postroom.Kinds
	// Clients are the models by the names that profiles give them. Required for the models of the profiles. A client of
	// type [llm.Metered] keeps its answers and knows its cost.
	Clients map[string]llm.Client
	// Profiles are what the agent may be. Their names differ.
	Profiles []Profile
	// Mail has the messages. Required.
	Mail Mail
	// Own returns the owner's addresses, who is no participant. Required.
	Own func(ctx context.Context, accountID string) ([]string, error)
	// Correspondence serves [SearchMail] and [OwnAnswers]. Default nil: there are no such tools.
	Correspondence Correspondence
	// Labels serves [ListLabels] and [OutcomeLabel]. Default nil: there is neither.
	Labels Labels
	// Folder returns the path of the folder with the owner's files for [ReadFiles], which are .txt and .md; empty for
	// none. Default nil: there is no such tool.
	Folder func(accountID string) string
	// Tools are the host's. Default none.
	Tools []Tool
	// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox; *safety.Ledger has such a method.
	// Jobs wait then. Default nil: they never wait.
	Held func(ctx context.Context) error
	// Refused is told, in the transaction that records it, of a run that is refused: a limit is reached, or its profile is
	// paused. Default nil.
	Refused func(ctx context.Context, tx queue.Tx, r Run) error
	// Paused is told, in the transaction that pauses it, of a profile and the reason. Default nil.
	Paused func(ctx context.Context, tx queue.Tx, profile, reason string) error
	// Material returns what an invocation tells of, as text: strangers may have written all of it. Default nil: there are
	// no schedules, and no [JobInvocation] is handled.
	Material func(ctx context.Context, inv Invocation) (string, error)
	// Told is told, in the transaction that completes it, of a run of a [JobInvocation] that has ended: its Output is for
	// the owner, and has words of strangers, also their links; it is empty if a bound has ended the run. Default nil.
	Told func(ctx context.Context, tx queue.Tx, r Run) error
	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server
}

// An Agent runs profiles. It is safe for concurrent use. [New] makes one; the zero Agent is unusable.
type Agent struct {
	cfg      Config
	tools    map[string]Tool
	profiles map[string]*Profile
}

// New makes an agent. The error names every fault of the configuration and the profiles.
func New(cfg Config) (*Agent, error) {
	for _, err := range []error{
		fields.Required("llm/agent: Config.DB", cfg.DB, giveDB),
		fields.Required("llm/agent: Config.Ledger", cfg.Ledger, "the ledger of decisions, such as a safety.Ledger"),
		fields.Required("llm/agent: Config.Mail", cfg.Mail, "the store of messages, such as a mailstore.Store"),
		fields.Required("llm/agent: Config.Own", cfg.Own, "what returns the owner's addresses"),
		fields.Optional("llm/agent: Config.Correspondence", cfg.Correspondence),
		fields.Optional("llm/agent: Config.Labels", cfg.Labels),
	} {
		if err != nil {
			return nil, err
		}
	}
	if cfg.AuthServer.ID == "" {
		cfg.AuthServer = authres.Server{ID: "mx.google.com", Below: true}
	}
	a := &Agent{cfg: cfg, tools: map[string]Tool{}, profiles: map[string]*Profile{}}
	a.cfg.Clients = maps.Clone(cfg.Clients)
	box, err := boxTools(&a.cfg)
	if err != nil {
		return nil, err
	}
	faults := a.addTools(slices.Concat(box, cfg.Tools))
	for _, p := range cfg.Profiles {
		faults = append(faults, a.addProfile(p))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Agent) addTools(list []Tool) (faults []error) {
	for _, t := range list {
		_, taken := a.tools[t.Name]
		switch {
		case t.call == nil:
			faults = append(faults, fmt.Errorf("llm/agent: tool %q is a zero Tool; make it with NewTool", t.Name))
		case taken:
			faults = append(faults, fmt.Errorf("llm/agent: there are two tools %s; rename one", t.Name))
		case t.Danger != postroom.Safe && t.Danger != postroom.Reversible:
			faults = append(faults, fmt.Errorf("llm/agent: tool %s is dangerous; what cannot be undone is a kind of action "+
				"and passes the gate; declare it safe or reversible if it is", t.Name))
		}
		a.tools[t.Name] = t
	}
	return faults
}

func (a *Agent) addProfile(p Profile) error {
	p, err := p.checked()
	faults := []error{err}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("llm/agent: profile %q: "+format, append([]any{p.Name}, args...)...))
	}
	if a.profiles[p.Name] != nil {
		fault("there are two of that name; rename one")
	}
	if a.cfg.Clients[p.Model] == nil {
		fault("there is no model %q; the models are %s", p.Model, join(slices.Sorted(maps.Keys(a.cfg.Clients))))
	}
	for _, name := range p.Tools {
		if _, ok := a.tools[name]; !ok {
			fault("there is no tool %q; the tools are %s", name, join(slices.Sorted(maps.Keys(a.tools))))
		}
	}
	for _, o := range p.Outcomes {
		e, known := endings[o]
		if !known {
			continue // checked has said so
		}
		if err := a.cfg.Kinds.Check(e.action, e.example, time.Time{}); err != nil {
			fault("outcome %s: %w", o, err)
		}
		if o == OutcomeLabel && a.cfg.Labels == nil {
			fault("outcome label: Config.Labels is nil; give the labels of the accounts")
		}
	}
	a.profiles[p.Name] = &p
	return errors.Join(faults...)
}

// Register registers the handler of [JobProcess], and that of [JobInvocation] if there is a [Config].Material.
func Register(d *queue.Dispatcher, a *Agent) error {
	if err := fields.Required("llm/agent: Register: the agent", a, "what New returns"); err != nil {
		return err
	}
	queue.Handle(d, JobProcess, a.handle)
	if a.cfg.Material != nil {
		queue.Handle(d, JobInvocation, a.invoke)
	}
	return nil
}

// handle runs the profile of the job. The failure that ends the job is the run's.
func (a *Agent) handle(ctx context.Context, w *queue.Work[Payload]) error {
	err := a.process(bodytext.With(ctx), w)
	if err != nil && w.Ends(err) {
		return errors.Join(err, a.failed(ctx, w.Attempt, err))
	}
	return err
}

// held gives a job back while nothing may be changed in a mailbox.
func (a *Agent) held(ctx context.Context, w *queue.Attempt) error {
	if a.cfg.Held == nil {
		return nil
	}
	err := a.cfg.Held(ctx)
	if errors.Is(err, postroom.ErrHeld) {
		return queue.Defer(err, attempts.Held(w.Job.Interruptions, time.Time{}, time.Time{}))
	}
	return err
}

func (a *Agent) process(ctx context.Context, w *queue.Work[Payload]) error {
	if err := a.held(ctx, w.Attempt); err != nil {
		return err
	}
	profile := a.profiles[w.Payload.Profile]
	if profile == nil {
		return queue.Fatal(fmt.Errorf("llm/agent: there is no profile %q; add it, or take it out of the rule, and retry the job",
			w.Payload.Profile))
	}
	msg, err := a.message(ctx, w.Payload)
	if err != nil {
		return err
	}
	begun, err := queue.StepTx(ctx, w, "begin", func(ctx context.Context, tx queue.Tx) (begun, error) {
		return a.begin(ctx, tx, profile, msg, w.Job.ID)
	})
	if err != nil || begun.Refused {
		return err
	}
	r, err := a.prepare(ctx, &durable{a, w.Attempt}, profile, a.cfg.Clients[profile.Model], msg, begun.RunID)
	if err != nil {
		return err
	}
	end, err := r.conclude(ctx)
	if err != nil {
		return llm.HandlerError(err)
	}
	record := a.cfg.Ledger.Record(ctx, msg, end.decision)
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		action, err := record(ctx, tx)
		if err == nil && a.cfg.Spawned != nil && w.Payload.ActionID != "" {
			err = a.cfg.Spawned(ctx, tx, w.Payload.ActionID, action)
		}
		if err != nil {
			return err
		}
		return a.ended(ctx, tx, r, &end, action.ID)
	})
}

// message returns the message of a job. One that is gone makes the job pointless.
func (a *Agent) message(ctx context.Context, p Payload) (*postroom.Message, error) {
	msg, err := a.cfg.Mail.Message(ctx, p.UserID, p.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, queue.Cancel(fmt.Errorf("llm/agent: message %s of account %s is no longer stored: %w", p.MessageID,
			p.UserID, err))
	}
	return msg, err
}

// prepared is what a run knows of its message from its beginning to its end.
type prepared struct {
	Mark          string           `json:"mark"` // random, and without a meaning but where a stranger's text ends
	Mail          string           `json:"mail"`
	Participants  []string         `json:"participants"` // of the thread, by their numbers from 1
	Correspondent string           `json:"correspondent"`
	Labels        []postroom.Label `json:"labels"` // that may be chosen
}

// prepare reads what a run works on.
func (a *Agent) prepare(ctx context.Context, j journal, profile *Profile, client llm.Client, msg *postroom.Message,
	runID string) (*run, error) {
	thread, err := threadOf(ctx, a.cfg.Mail, msg)
	if err != nil {
		return nil, err
	}
	p, err := j.prepare(ctx, func(ctx context.Context) (prepared, error) { return a.read(ctx, msg, thread) })
	if err != nil {
		return nil, err
	}
	return &run{agent: a, profile: profile, client: client, journal: j, id: runID, model: profile.Model, prepared: &p,
		scope: Scope{AccountID: msg.AccountID, Message: msg, Thread: thread, Correspondent: p.Correspondent},
		equal: map[string]int{}}, nil
}

func (a *Agent) read(ctx context.Context, msg *postroom.Message, thread []*postroom.Message) (p prepared, err error) {
	own, err := a.cfg.Own(ctx, msg.AccountID)
	if err != nil {
		return p, fmt.Errorf("read the addresses of account %s: %w", msg.AccountID, err)
	}
	mark, err := uuid7.New()
	if err != nil {
		return p, err
	}
	p = prepared{Mark: "<<<" + mark, Mail: messageText(ctx, msg, maxMessageText),
		Correspondent: correspondent(msg, own, a.cfg.AuthServer)}
	p.Participants = participants(thread, msg, own, p.Correspondent != "")
	if a.cfg.Labels == nil {
		return p, nil
	}
	labels, err := a.cfg.Labels.Labels(ctx, msg.AccountID)
	for _, l := range labels {
		if l.AvailableToClassifier && l.Type != postroom.LabelSystem {
			p.Labels = append(p.Labels, l)
		}
	}
	return p, err
}

// durable is the journal of a job.
type durable struct {
	agent *Agent
	work  *queue.Attempt
}

func (d *durable) prepare(ctx context.Context, fn func(ctx context.Context) (prepared, error)) (prepared, error) {
	return queue.Step(ctx, d.work, "prepare", fn)
}

func (d *durable) once(ctx context.Context, name string, fn func(ctx context.Context) (result, error)) (result, error) {
	return queue.Step(ctx, d.work, name, fn)
}

func (d *durable) record(ctx context.Context, s Step) error {
	return d.work.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return insertStep(ctx, tx, &s) })
}

func (d *durable) dry() bool { return false }
