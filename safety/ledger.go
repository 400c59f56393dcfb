package safety

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

// Config configures a [Ledger]. It is copied and checked once, by [NewLedger].
type Config struct {
	// DB holds the tables of the ledger. Required; [Migrate] must have prepared it.
	DB queue.DB

	// Policy configures the gate. The zero Policy uses the defaults.
	Policy Policy

	// Kinds are the actions that can be carried out. A decision for any other is [ErrInvalidDecision]. Default nil: those that
	// package gmail carries out.
	Kinds *postroom.Kinds

	// Rules looks up the rule of each decision of source deterministic, in the transaction that records it. If the stored rule
	// differs from the one that matched, a person is asked. The safe mode is that of the store. Default nil: no rule can be
	// looked up, and no safe mode counts.
	Rules Rules

	// Labels lists the labels of an account. A model's decision for a label that does not exist, or that is kept from models,
	// waits for a person. Default nil: labels are not looked up.
	Labels Labels

	// Sent looks up what a mailbox sent before it was removed and came back, so that nothing is sent twice without a person.
	// Default nil: nothing is looked up.
	Sent Sent

	// Refusals knows what would be refused when it is carried out, such as an answer to a mailing list: it is recorded as canceled or
	// failed, with the reason, and nobody is asked to approve it. Default nil: nothing is asked, and the job finds out.
	Refusals Refusals

	// Forbids knows what the user has forbidden to models: a model's decision to do it is recorded as canceled, with the reason, and
	// nobody is asked to approve it. Default nil: nothing is forbidden.
	Forbids Forbids

	// Execute enqueues the job that executes an action. It is called in the transaction that makes the action queued; an
	// error rolls that back. An action that was held is queued a second time when it is approved, so the key of the job
	// must be free again when the job has finished. Required.
	Execute func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Ask enqueues the job that notifies a person of a request for approval. It is called in the transaction that makes the
	// request; an error rolls that back. Default nil: nobody is notified, and people list the requests with [Ledger.Approvals].
	Ask func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Notify is called when a person stops or resumes, and when a breaker does: once for each change, in its transaction, to
	// enqueue a job that notifies people. An error rolls the change back. Default nil: people read [Ledger.Stopped] and
	// [Ledger.Events].
	Notify func(ctx context.Context, tx queue.Tx, e Event) error

	// StopFile is the path of a file that stops this process: while it exists, or cannot be read, no action starts, as after
	// [Ledger.Stop], which stops all processes. The ledger checks the file each time before an action starts. Default empty: no
	// file.
	StopFile string

	// Checkpoint remembers outside of the database how far it has come, so that a database that is put back repeats nothing; see
	// [ErrRestored], [Ledger.Remember] and [CheckpointFile]. Default nil: a database that is put back is not noticed.
	Checkpoint CheckpointStore

	// Audit is the log of what is decided, permitted and done; *audit.Log implements it. Default nil: no log.
	Audit AuditLog

	// DryRun records all decisions and carries out nothing. An action that would be queued, or would wait for a person, is
	// recorded as canceled and stays canceled. An action that was queued before waits until the dry run is over. Default false.
	DryRun bool

	// OnAnswer is called when a request for approval is approved, rejected or withdrawn, by any process, in the transaction that
	// does it; an error rolls that back. Default nil: no call.
	OnAnswer func(ctx context.Context, tx queue.Tx, request Approval) error

	// Approvers are the names that may approve and reject, compared exactly; none may be blank. Default empty: every name.
	Approvers []string

	// Key signs requests for approval and approvals, so that nothing else is executed; at least 32 bytes. All programs that share
	// the database need the same key. Default nil: a random key that Migrate makes and the database keeps.
	Key []byte

	// OldKeys are replaced keys. They verify what they signed, and sign nothing. What is signed with a key that is neither here nor
	// in Key cannot be verified: a person is asked again. Default nil: none.
	OldKeys [][]byte

	// ApprovalExpiry is the time within which a request can be approved, and after that the time within which the approved
	// action must start. Default 7 days; bounds 1 minute to 365 days.
	ApprovalExpiry time.Duration
}

const (
	defaultExpiry = 7 * 24 * time.Hour
	maxExpiry     = 365 * 24 * time.Hour
)

func (c Config) withDefaults() (Config, error) {
	if c.ApprovalExpiry == 0 {
		c.ApprovalExpiry = defaultExpiry
	}
	c.Approvers, c.Key, c.OldKeys = slices.Clone(c.Approvers), slices.Clone(c.Key), slices.Clone(c.OldKeys)
	for i, key := range c.OldKeys {
		c.OldKeys[i] = slices.Clone(key)
	}
	return c, c.validate()
}

// giveDB says how to open a database.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

func (c *Config) validate() error {
	faults := []error{
		fields.Required("safety: Config.DB", c.DB, giveDB),
		fields.Optional("safety: Config.Rules", c.Rules),
		fields.Optional("safety: Config.Labels", c.Labels),
		fields.Optional("safety: Config.Sent", c.Sent),
		fields.Optional("safety: Config.Refusals", c.Refusals),
		fields.Optional("safety: Config.Forbids", c.Forbids),
		fields.Optional("safety: Config.Checkpoint", c.Checkpoint),
		fields.Optional("safety: Config.Audit", c.Audit),
		fields.Required("safety: Config.Execute", c.Execute, "a function that enqueues the job of an action; approved actions would never be executed"),
	}
	if c.ApprovalExpiry < time.Minute || c.ApprovalExpiry > maxExpiry {
		faults = append(faults, fmt.Errorf("safety: Config.ApprovalExpiry is %v; it must be within 1m and %v", c.ApprovalExpiry, maxExpiry))
	}
	if c.Key != nil && len(c.Key) < minKey {
		faults = append(faults, fmt.Errorf("safety: Config.Key has %d bytes; give at least %d that nobody can guess, or leave it out", len(c.Key), minKey))
	}
	for i, key := range c.OldKeys {
		if len(key) < minKey {
			faults = append(faults, fmt.Errorf("safety: Config.OldKeys[%d] has %d bytes; a key has at least %d", i, len(key), minKey))
		}
	}
	for i, name := range c.Approvers {
		if strings.TrimSpace(name) == "" {
			faults = append(faults, fmt.Errorf("safety: Config.Approvers[%d] is blank; give a name, or leave it out", i))
		}
	}
	return errors.Join(faults...)
}

// A Ledger records decisions, actions and approvals. It is safe for concurrent use. [NewLedger] makes one;
// the zero Ledger is unusable.
type Ledger struct {
	cfg  Config
	gate *Gate
	keys *keyring

	checkpoint *checkpoint
}

// NewLedger makes a ledger; a bad configuration is an error that names the field. [Migrate] must have run.
func NewLedger(cfg Config) (*Ledger, error) {
	cfg, err := cfg.withDefaults()
	gate, policyErr := NewGate(cfg.Policy, cfg.Kinds)
	if err := errors.Join(err, policyErr); err != nil {
		return nil, err
	}
	checkpoint, err := newCheckpoint(cfg.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("safety: Config.Checkpoint: %w", err)
	}
	return &Ledger{cfg: cfg, gate: gate, keys: newKeyring(cfg.Key, cfg.OldKeys...), checkpoint: checkpoint}, nil
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the ledger's tables (decisions, actions, action_links, message_locks, approvals, model_counts, and those that
// begin with safety_) or brings them up to date, and makes the default key of [Config].Key. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("safety: Migrate: db", db, giveDB); err != nil {
		return err
	}
	if err := migrate.Up(ctx, db, string(db.Dialect()), "safety", migrations); err != nil {
		return err
	}
	if err := makeKey(ctx, db); err != nil {
		return fmt.Errorf("safety: make the key of the signatures: %w", err)
	}
	return nil
}
