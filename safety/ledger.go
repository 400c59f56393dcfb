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

	// Execute enqueues the job that executes an action. It is called in the transaction that makes the action queued; an
	// error rolls that back. An action that was held is queued a second time when it is approved, so the key of the job
	// must be free again when the job has finished. Required.
	Execute func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Ask enqueues the job that notifies a person of a request for approval. It is called in the transaction that makes the
	// request; an error rolls that back. Default nil: nobody is notified, and people list the requests with
	// [Ledger.Approvals].
	Ask func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Approvers are the names that may approve and reject, compared exactly; none may be blank. Default empty: every name.
	Approvers []string

	// ApprovalExpiry is the time within which a request can be approved. Default 7 days; bounds 1 minute to 365 days.
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
	c.Approvers = slices.Clone(c.Approvers)
	return c, c.validate()
}

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

func (c *Config) validate() error {
	faults := []error{
		fields.Required("safety: Config.DB", c.DB, giveDB),
		fields.Required("safety: Config.Execute", c.Execute, "a function that enqueues the job of an action; approved actions would never be executed"),
	}
	if c.ApprovalExpiry < time.Minute || c.ApprovalExpiry > maxExpiry {
		faults = append(faults, fmt.Errorf("safety: Config.ApprovalExpiry is %v; it must be within 1m and %v", c.ApprovalExpiry, maxExpiry))
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
}

// NewLedger makes a ledger; a bad configuration is an error that names the field. [Migrate] must have run.
func NewLedger(cfg Config) (*Ledger, error) {
	cfg, err := cfg.withDefaults()
	gate, policyErr := NewGate(cfg.Policy)
	if err := errors.Join(err, policyErr); err != nil {
		return nil, err
	}
	return &Ledger{cfg: cfg, gate: gate}, nil
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the ledger's tables (decisions, actions, action_links, approvals) or brings them up to date. Call
// it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("safety: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "safety", migrations)
}
