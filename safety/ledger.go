package safety

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/activity"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/internal/counts"
	"github.com/postroom-go/postroom/safety/internal/keyring"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/stop"
)

// A Ledger records decisions, actions and approvals. It is safe for concurrent use. [NewLedger] makes one;
// the zero Ledger is unusable.
type Ledger struct {
	*WakeUps

	cfg   *Config
	gate  *gate.Gate
	judge *judge
	keys  *signatures

	actions  *actions
	requests *requests
	audit    *auditor
	events   *events.Log

	stop       *stop.Switch
	breakers   *limits.Breakers
	checkpoint *checkpoint.Checkpoint
	begun      begun
}

// NewLedger makes a ledger; a bad configuration is an error that names the field. [Migrate] must have run.
func NewLedger(cfg Config) (*Ledger, error) {
	cfg, err := cfg.withDefaults()
	judging, policyErr := gate.New(cfg.Policy, cfg.Kinds)
	if err := errors.Join(err, policyErr); err != nil {
		return nil, err
	}
	if _, _, err := cfg.Checkpoint.Load(); err != nil {
		return nil, fmt.Errorf("safety: Config.Checkpoint: %w", err)
	}
	l := &Ledger{
		cfg: &cfg, gate: judging,
		keys:       &signatures{keyring.New(cfg.Key, cfg.OldKeys...), string(cfg.DB.Dialect()) == "postgres"},
		audit:      &auditor{cfg.Audit, judging.Kinds()},
		events:     events.New(cfg.DB, cfg.Audit, cfg.Notify),
		checkpoint: &checkpoint.Checkpoint{Store: cfg.Checkpoint, Revision: revision, Logged: logged(cfg.Audit)},
	}
	counting := counts.Counts{Kinds: cfg.Kinds}
	l.stop = stop.New(cfg.DB, cfg.StopFile, l.events)
	l.breakers = limits.NewBreakers(cfg.DB, func(accountID string) limits.Breaker {
		return l.judge.gateOf(accountID).Policy().Breaker
	}, counting, l.events)
	l.judge = &judge{l.cfg, judging, l.breakers, counting}
	l.actions = &actions{l.audit, l.checkpoint, cfg.OnEnded}
	l.requests = &requests{l.cfg, l.keys, l.audit, l.actions, l.checkpoint}
	l.WakeUps = &WakeUps{cfg.DB, l.keys, l.actions}
	return l, nil
}

// Kinds returns the actions that can be carried out; nil means those that package gmail carries out. Packages that get
// the ledger and kinds of their own refuse to work with others.
func (l *Ledger) Kinds() *postroom.Kinds { return l.cfg.Kinds }

// DB returns the database that holds the ledger.
func (l *Ledger) DB() queue.DB { return l.cfg.DB }

// Switch returns the switch that stops all actions.
func (l *Ledger) Switch() *stop.Switch { return l.stop }

// Breakers returns the breakers, which stop the rules or the models of an account.
func (l *Ledger) Breakers() *limits.Breakers { return l.breakers }

// Activity returns what counts the decisions, the actions, and the answers and undos of people.
func (l *Ledger) Activity() *activity.Reader { return activity.New(l.cfg.DB) }

// Events returns the record of the changes of what may be done.
func (l *Ledger) Events() *events.Log { return l.events }

// settings are the settings that decide which actions need a person.
type settings struct {
	Policy         gate.Policy
	Approvers      []string
	ApprovalExpiry string
	DryRun         bool
}

// RecordSettings records the settings of the ledger as an event if they differ from those last recorded, so that the
// record shows under which settings a decision was made. Call it when a program begins to decide. by names the program
// or person.
func (l *Ledger) RecordSettings(ctx context.Context, tx queue.Tx, by string) error {
	text, err := encode("settings",
		settings{l.gate.Policy(), l.cfg.Approvers, l.cfg.ApprovalExpiry.String(), l.cfg.DryRun})
	if err != nil {
		return err
	}
	return l.events.AddSettings(ctx, tx, by, text)
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the ledger's tables (decisions, actions, action_links, message_locks, approvals, model_counts, and
// those that begin with safety_) or brings them up to date, and makes the default key of [Config].Key. Call it at
// every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("safety: Migrate: db", db, giveDB); err != nil {
		return err
	}
	if err := migrate.Up(ctx, db, string(db.Dialect()), "safety", migrations); err != nil {
		return err
	}
	if err := keyring.Make(ctx, db); err != nil {
		return fmt.Errorf("safety: make the key of the signatures: %w", err)
	}
	return nil
}

// VerifyAudit verifies the audit log and compares the decisions, actions, approvals and events with it: it finds rows
// and entries that were altered, removed, added or put back. It finds that the whole database was put back only if
// heads has a later end of the log, which was kept elsewhere, or [Config].Checkpoint has one. It reads everything in
// one state of the database. Without an audit log the error is [ErrNoAudit].
func (l *Ledger) VerifyAudit(ctx context.Context, heads []audit.Head) (audit.Report, error) {
	if l.cfg.Audit == nil {
		return audit.Report{}, fmt.Errorf("safety: %w", ErrNoAudit)
	}
	if err := l.checkpoint.Check(ctx, l.cfg.DB.Reader()); err != nil && !errors.Is(err, postroom.ErrHeld) {
		return audit.Report{}, err
	}
	if head, err := audit.ParseHead(l.checkpoint.AuditHead()); err == nil {
		heads = append(slices.Clip(heads), head)
	}
	return l.cfg.Audit.Verify(ctx, heads, l.audit.auditedActions, auditedApprovals, l.events.AuditRows)
}

// DeriveKey returns a key of 32 bytes for a purpose, such as signing the buttons of a message. It is derived from
// [Config].Key, or from the key that the database keeps. A key reveals nothing about the keys of other purposes.
func (l *Ledger) DeriveKey(ctx context.Context, purpose string) ([]byte, error) {
	if purpose == "" {
		return nil, errors.New("safety: DeriveKey: the purpose is empty")
	}
	if err := l.keys.Load(ctx, l.cfg.DB.Reader()); err != nil {
		return nil, err
	}
	return l.keys.Derive(purpose), nil
}

// ErrNoAudit reports that the ledger has no audit log.
var ErrNoAudit = errors.New("there is no audit log: Config.Audit is nil")
