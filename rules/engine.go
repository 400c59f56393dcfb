package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
)

// An Engine decides by the stored rules: the first rule that matches decides. Before each decision it asks the store
// whether the rules have changed, and if so compiles them again. It is safe for concurrent use. [NewEngine] makes
// one; the zero Engine is unusable.
//
// The engine disables a stored rule that cannot be evaluated, with the reason, in a write transaction of its own.
// Such a rule does not keep the others from deciding.
type Engine struct {
	store    Store
	log      *slog.Logger
	server   authres.Server
	senders  Senders
	history  History
	meanings Meanings

	mu     sync.Mutex
	sets   map[string]loaded // by account
	shapes map[shapeKey]*shape
	stored map[string]bool // accounts known to have rules
}

// loaded is a set that was made of the rules at a revision.
type loaded struct {
	set      *Set
	key      shapeKey
	revision int64
}

var _ postroom.Decider = (*Engine)(nil)

// EngineConfig configures an [Engine]. It is copied and checked once, by [NewEngine].
type EngineConfig struct {
	// Store keeps the rules. Required; *rulestore.Store implements it.
	Store Store
	// Logger logs the broken rules that are disabled. Default [slog.Default]; a logger with [slog.DiscardHandler] logs
	// nothing.
	Logger *slog.Logger

	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server
	// Senders knows who has written before. Default nil: a rule with sender_seen is broken.
	Senders Senders
	// History knows what was written in threads, and to whom. Default nil: a rule that asks for it is broken.
	History History
	// Meanings knows what messages mean. Default nil: a rule that asks for it is broken.
	Meanings Meanings
}

// A Store keeps the rules that an [Engine] decides by, and must be safe for concurrent use. *rulestore.Store
// implements it.
type Store interface {
	// Kinds returns the actions that rules may have; nil means those that package gmail carries out.
	Kinds() *postroom.Kinds
	// Revision returns the number of changes of the rules: while it is equal, the rules are.
	Revision(ctx context.Context) (int64, error)
	// Stored reports whether rules were ever stored for the account, if only an empty list, or for all accounts.
	Stored(ctx context.Context, accountID string) (bool, error)
	// List returns all rules in the order in which they are tried, disabled ones included.
	List(ctx context.Context) ([]Rule, error)
	// ListOf returns the rules of List that belong to the account, or to none.
	ListOf(ctx context.Context, accountID string) ([]Rule, error)
	// RuleAt returns a rule at the version that a decision names, which is [Rule.Version], or [postroom.ErrNotFound].
	RuleAt(ctx context.Context, id, version string) (*Rule, error)
	// DisableBroken calls fault with a rule as it is stored now, in a write transaction of its own, and disables the
	// rule with the error that fault returns as the reason. If there is none, or the rule is disabled already, nothing
	// changes. A missing rule is [postroom.ErrNotFound].
	DisableBroken(ctx context.Context, id string, fault func(r *Rule) error) error
	// Write runs fn in a write transaction of the database that holds the rules.
	Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error
}

// Senders knows the mail of the past.
type Senders interface {
	// SenderSeen reports whether the account has received a message from the sender of msg before msg. Addresses are
	// compared without regard to case.
	SenderSeen(ctx context.Context, msg *postroom.Message) (bool, error)
}

// ErrSenders is why a message is not decided about: [Senders] do not know now whether its sender has written before.
var ErrSenders = errors.New("ask whether the sender has written before")

// ErrNotStored is why nothing is decided about the mail of an account whose rules were never stored: that no rule
// matches would be on record for good. For an account that is to have no rules, import an empty list; see Import of
// *rulestore.Store.
var ErrNotStored = errors.New("the rules are not stored yet for this mailbox, and nothing is decided about its " +
	"mail until they are; its job labels.sync.gmail may say what they wait for")

// Kinds returns the actions that the rules may have; nil means those that package gmail carries out.
func (e *Engine) Kinds() *postroom.Kinds { return e.store.Kinds() }

// NewEngine makes an engine; a missing field is an error that names it.
func NewEngine(cfg EngineConfig) (*Engine, error) {
	if err := fields.Required("rules: EngineConfig.Store", cfg.Store,
		"a store of rules, such as a *rulestore.Store"); err != nil {
		return nil, err
	}
	if err := errors.Join(fields.Optional("rules: EngineConfig.Senders", cfg.Senders),
		fields.Optional("rules: EngineConfig.History", cfg.History),
		fields.Optional("rules: EngineConfig.Meanings", cfg.Meanings)); err != nil {
		return nil, err
	}
	e := &Engine{store: cfg.Store, log: cmp.Or(cfg.Logger, slog.Default()), server: cfg.AuthServer, senders: cfg.Senders,
		history: cfg.History, meanings: cfg.Meanings, sets: map[string]loaded{},
		shapes: map[shapeKey]*shape{}, stored: map[string]bool{}}
	if e.server.ID == "" {
		e.server = GmailServer
	}
	return e, nil
}

// Decide returns the first of the decisions of [Engine.DecideAll].
func (e *Engine) Decide(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
	decisions, err := e.DecideAll(ctx, msg)
	if err != nil {
		return postroom.Decision{}, err
	}
	return decisions[0], nil
}

// DecideAll returns the decisions of the first matching rule and, while matching rules let the rules after them be
// tried, of those as well; see [Set.DecideAll]. It fails only if the rules or the earlier senders cannot be read, and
// with [ErrNotStored]. Do not call it inside a write transaction.
func (e *Engine) DecideAll(ctx context.Context, msg *postroom.Message) ([]postroom.Decision, error) {
	if stored, err := e.hasRules(ctx, msg.AccountID); err != nil || !stored {
		return nil, cmp.Or(err, ErrNotStored)
	}
	set, err := e.current(ctx, msg.AccountID)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	f, err := e.factsOf(ctx, set, msg, now)
	if err != nil {
		return nil, err
	}
	return set.decide(msg, now, f), nil
}

// DecideUnstored is [Engine.DecideAll] for a message that is not stored yet. If a rule depends on other messages, which
// may also be on their way, or the account has no rules yet, ok is false: decide when they are stored.
func (e *Engine) DecideUnstored(ctx context.Context, msg *postroom.Message) (decisions []postroom.Decision,
	ok bool, err error) {
	if stored, err := e.hasRules(ctx, msg.AccountID); err != nil || !stored {
		return nil, false, err
	}
	set, err := e.current(ctx, msg.AccountID)
	if err != nil || set.needs&^needsMeaning != 0 { // of new mail no meaning is known
		return nil, false, err
	}
	return set.decide(msg, time.Now(), e.facts(ctx)), true, nil
}

// hasRules reports whether rules were ever stored for the account.
func (e *Engine) hasRules(ctx context.Context, accountID string) (bool, error) {
	e.mu.Lock()
	known := e.stored[accountID]
	e.mu.Unlock()
	if known {
		return true, nil
	}
	stored, err := e.store.Stored(ctx, accountID)
	if err == nil && stored {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.stored[accountID] = true
	}
	return stored, err
}

// facts returns the facts that need no look at other messages.
func (e *Engine) facts(ctx context.Context) *Facts {
	return &Facts{Server: e.server, bodies: bodytext.From(ctx)}
}

// factsOf returns the facts that the rules of the set need besides the message.
func (e *Engine) factsOf(ctx context.Context, set *Set, msg *postroom.Message, now time.Time) (*Facts, error) {
	f := e.facts(ctx)
	var err error
	if set.AsksSenders() {
		if f.SenderSeen, err = e.senders.SenderSeen(ctx, msg); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSenders, err)
		}
	}
	if set.needs&needsMeaning != 0 {
		if f.Meaning, err = e.meanings.Meaning(ctx, msg); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMeaning, err)
		}
	}
	f.Past, err = set.PastOf(ctx, e.history, msg, now)
	return f, err
}

func (e *Engine) knows() need { return known(e.senders, e.history, e.meanings) }

// current returns the set of the stored rules that may be about mail of the account.
//
// The revision is read before the rules: a change in between leaves a set that is newer than its revision, and
// the next decision loads it again. In the other order the set would be older than its revision, and would stay.
func (e *Engine) current(ctx context.Context, accountID string) (*Set, error) {
	revision, err := e.store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.sets[accountID]; ok && known.revision >= revision {
		return known.set, nil
	}
	l := loaded{revision: revision}
	l.set, l.key, err = e.compile(ctx, accountID)
	if err != nil {
		return nil, err
	}
	e.sets[accountID], e.shapes[l.key] = l, l.set.shape
	for key := range e.shapes { // the ones that no account has any more
		used := func(s loaded) bool { return s.key == key }
		if !slices.ContainsFunc(slices.Collect(maps.Values(e.sets)), used) {
			delete(e.shapes, key)
		}
	}
	for _, b := range l.set.broken {
		e.disable(ctx, b)
	}
	return l.set, nil
}

// preview is current without a trace: broken rules are left out, and not disabled.
func (e *Engine) preview(ctx context.Context, accountID string) (*Set, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	set, _, err := e.compile(ctx, accountID)
	return set, err
}

// compile makes the set of an account. Accounts whose rules differ only in what they are called and in what they do
// share what their messages are compared with. The caller holds the lock.
func (e *Engine) compile(ctx context.Context, accountID string) (set *Set, key shapeKey, err error) {
	rules, err := e.store.ListOf(ctx, accountID)
	if err != nil {
		return nil, key, err
	}
	rules = slices.DeleteFunc(rules, func(r Rule) bool { return !r.isOf(accountID) })
	c := compiler{kinds: e.store.Kinds(), knows: e.knows(), accountID: accountID}
	set = c.set(rules, func(rules []Rule) *shape {
		var ok bool
		if key, ok = c.keyOf(rules); ok && e.shapes[key] != nil {
			return e.shapes[key]
		}
		return c.newShape(rules)
	})
	return set, key, nil
}

// disable disables a broken rule, unless it has been repaired since it was read. A failure is logged and does not
// fail the decision: the rule is out of the set already, and the next load tries again.
func (e *Engine) disable(ctx context.Context, b Broken) {
	err := e.store.DisableBroken(ctx, b.Rule.ID, func(r *Rule) error {
		return cmp.Or(r.Validate(e.store.Kinds()), lacking(b.Err))
	})
	switch {
	case errors.Is(err, postroom.ErrNotFound):
	case err != nil:
		e.log.ErrorContext(ctx, "a broken rule could not be disabled", "rule", b.Rule.Name, "rule_id", b.Rule.ID, "fault",
			b.Err, "error", err)
	default:
		e.log.WarnContext(ctx, "disabled a broken rule", "rule", b.Rule.Name, "rule_id", b.Rule.ID, "fault", b.Err)
	}
}

// lacking returns the error if it is one that the rule itself does not show.
func lacking(err error) error {
	if errors.Is(err, ErrNoSenders) || errors.Is(err, ErrNoHistory) || errors.Is(err, ErrNoMeanings) {
		return err
	}
	return nil
}
