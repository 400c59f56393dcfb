package archive

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"filippo.io/age"
	"gocloud.dev/blob"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, or brings them up to date. Call it at every start; several processes may
// do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("archive: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/archive", migrations)
}

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Records are the decisions and actions of an account, in the order in which they were recorded.
type Records interface {
	// After returns records after a cursor, as JSON without line breaks, at most most of them, and the cursor after the
	// last of them. The empty cursor is before the first record. No records: there are none yet after the cursor.
	After(ctx context.Context, accountID, cursor string, most int) (records []json.RawMessage, next string, err error)
}

// Config configures an [Archive]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the index. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Bucket holds the archive. Required.
	Bucket *blob.Bucket
	// Sync makes an object that was written durable, such as that of [folder.Bucket]. Default nil: an object is durable
	// when it is written, as in clouds.
	Sync func(key string) error
	// Keys encrypt and decrypt. The first encrypts what is written from now on, each decrypts. A key is needed to verify
	// what is written, so it is not a public one. Default nil: nothing is encrypted.
	Keys []*age.X25519Identity
	// Store has the accounts. Default nil: the archive can be listed, verified, rebuilt and exported, but no mailbox is
	// archived or restored.
	Store *mailstore.Store
	// Clients returns the client of an account. Required with Store.
	Clients gmailapi.Clients
	// Records are archived at the end of each run. Default nil: mail alone is archived.
	Records Records
	// SpamTrash archives spam and trash as well. Default false. A message that was archived stays so when it is moved
	// there.
	SpamTrash bool
	// KeepMonths is for how many months a message is kept: at the end of a run, what Gmail has received before the first
	// day of the month that is this many months ago is removed, in UTC, also if Gmail no longer has it. Its entry
	// stays, and says that it was removed. A deletion of [Archive.DeleteKind] whose copy was removed can no longer be
	// undone. Default 0: nothing is removed; at most 1,200.
	KeepMonths int
	// Now returns the present time, for manifests and KeepMonths. Default [time.Now].
	Now func() time.Time
	// Logger logs messages that cannot be archived. Default [slog.Default].
	Logger *slog.Logger
}

// An Archive archives mail. It is safe for concurrent use. [New] makes one.
type Archive struct {
	cfg Config

	packers, unpackers sync.Pool // *zstd.Encoder and *zstd.Decoder, which are large

	mu    sync.Mutex
	chain map[string]chan struct{} // by account, of who writes the next manifest
}

// New makes an archive. It returns an error that names the field of a bad configuration, and reads nothing.
func New(cfg Config) (*Archive, error) {
	err := errors.Join(
		fields.Required("archive: Config.DB", cfg.DB, giveDB),
		fields.Required("archive: Config.Bucket", cfg.Bucket, "one of gocloud.dev/blob, such as folder.Open makes"),
	)
	if cfg.Store != nil {
		err = errors.Join(err, fields.Required("archive: Config.Clients", cfg.Clients, "clients made by gmail.NewClients"))
	}
	if cfg.KeepMonths < 0 || cfg.KeepMonths > 1200 {
		err = errors.Join(err, fmt.Errorf("archive: Config.KeepMonths is %d; it must be 0 to 1200", cfg.KeepMonths))
	}
	for _, key := range cfg.Keys {
		err = errors.Join(err, fields.Required("archive: Config.Keys", key, "keys, or none"))
	}
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return &Archive{cfg: cfg, chain: map[string]chan struct{}{}}, nil
}

// sealed reports whether what is written is encrypted.
func (a *Archive) sealed() bool { return len(a.cfg.Keys) > 0 }

// lock waits until nobody else in this process writes manifests of the account.
func (a *Archive) lock(ctx context.Context, accountID string) (unlock func(), err error) {
	a.mu.Lock()
	turn := a.chain[accountID]
	if turn == nil {
		turn = make(chan struct{}, 1)
		a.chain[accountID] = turn
	}
	a.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open returns the client of an account that may be used.
func (a *Archive) open(ctx context.Context, accountID string) (account mailstore.Account, client *gmailapi.Client,
	err error) {
	if a.cfg.Store == nil {
		return account, nil, queue.Fatal(errors.New("archive: Config.Store is nil, so there are no mailboxes"))
	}
	if account, err = a.cfg.Store.Account(ctx, accountID); err == nil {
		err = account.Usable()
	}
	if err != nil {
		return account, nil, err
	}
	client, err = gmailapi.FindClient(ctx, a.cfg.Clients, accountID)
	return account, client, err
}

// Register registers the handlers of the jobs of this package, with the options.
func (a *Archive) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	if err := fields.Required("archive: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	queue.Handle(d, RunJob, a.run, opts...)
	queue.Handle(d, VerifyJob, a.verify, opts...)
	queue.Handle(d, RestoreJob, a.restore, opts...)
	queue.Handle(d, UndoRestoreJob, a.undoRestore, opts...)
	return nil
}

// options are those of a job that nobody enqueues again; limited ones wait while the account is paused.
func options(key, limit string) *queue.Options {
	return &queue.Options{MaxAttempts: attempts.Unattended, Key: queue.WhileUnfinished(key), LimitKey: limit,
		Priority: priority}
}

// priority is below that of mail that arrives, and of backfills.
const priority = -100

// goOn completes a job and enqueues the one that continues it, under the same key, in one transaction.
func goOn[P any](ctx context.Context, w *queue.Work[P], next queue.NewJob,
	also func(ctx context.Context, tx queue.Tx) error) error {
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if also != nil {
			if err := also(ctx, tx); err != nil {
				return err
			}
		}
		if err := w.CompleteTx(ctx, tx); err != nil {
			return err
		}
		_, err := w.Queue().EnqueueTx(ctx, tx, next)
		return err
	})
}
