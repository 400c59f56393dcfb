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
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

// Config says how a [Ledger] works. It is copied and checked once, by [New].
type Config struct {
	// DB is where the ledger's tables are. Required.
	DB queue.DB

	// Policy is the gate's; the zero value is the usual.
	Policy Policy

	// Execute is called for each action that may now be executed, in the transaction that says so: it enqueues the job
	// that does it. An error undoes the transaction. An action that is held becomes executable a second time when it is
	// approved, so the job's key is one that is free again once the job has finished. Required.
	Execute func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Ask is called for each request for approval, in the transaction that makes it: it enqueues the job that tells a
	// person. An error undoes the transaction. Nil: people look for themselves, with [Ledger.Approvals].
	Ask func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Approvers are who may approve and reject, compared exactly. Empty: whoever can call.
	Approvers []string

	// ApprovalExpiry is how long a request for approval can be answered. Default 7 days; bounds: 1 minute to 365 days.
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
	switch {
	case c.DB == nil:
		return c, errors.New("safety: Config.DB is nil; it is required")
	case c.Execute == nil:
		return c, errors.New("safety: Config.Execute is nil; it is required, or approved actions would never be executed")
	case c.ApprovalExpiry < time.Minute || c.ApprovalExpiry > maxExpiry:
		return c, fmt.Errorf("safety: Config.ApprovalExpiry is %v; it must be within 1m and %v", c.ApprovalExpiry, maxExpiry)
	}
	for i, name := range c.Approvers {
		if strings.TrimSpace(name) == "" {
			return c, fmt.Errorf("safety: Config.Approvers[%d] is blank", i)
		}
	}
	return c, nil
}

// A Ledger keeps what was decided, what was done and who allowed it. It is safe for concurrent use.
type Ledger struct {
	cfg  Config
	gate *Gate
}

// New makes a ledger; a bad configuration is an error that names the field. [Migrate] must have run.
func New(cfg Config) (*Ledger, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	gate, err := NewGate(cfg.Policy)
	if err != nil {
		return nil, err
	}
	return &Ledger{cfg: cfg, gate: gate}, nil
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the ledger's tables (decisions, actions, action_links, approvals) or brings them up to date. It may be
// called at every start, by several processes at once.
func Migrate(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "safety", migrations)
}
