package notes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Config configures a [Vault]. It is copied and checked once, by [New].
type Config struct {
	// DB remembers which file was written for which message. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Folder is the absolute path of the vault. It is not created: an action waits while it is missing. On a disk that
	// may not be mounted, give a folder below the mount point. Required.
	Folder string
	// Path is the path of a note below Folder, without its ending, with variables; see [CheckPath]. Default
	// [DefaultPath].
	Path string
	// Message returns a message by its UUID. Required.
	Message func(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
	// Mailbox returns the address of an account. Required.
	Mailbox func(ctx context.Context, accountID string) (string, error)
	// Text also puts the visible text of the message into the note. Default: it is left out.
	Text bool
	// Files returns the files that are attached to a message, which are kept beside the note. Default nil: the note has
	// their names only.
	Files func(ctx context.Context, m *postroom.Message) ([]File, error)
	// Zone is the time zone of dates. Default [time.Local].
	Zone *time.Location
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// A File is attached to a message.
type File struct {
	Name    string
	Content []byte
}

// A Vault keeps notes in a folder. It is safe for concurrent use. [New] makes one.
type Vault struct {
	cfg  Config
	path safefolder.Template
	// mu is held while files change: a file system without links cannot put a file only where none is.
	mu sync.Mutex
	// outside makes the calls that touch files.
	outside func(ctx context.Context, name string, call func() error) error
}

// New makes a vault; the error names what is wrong.
func New(cfg Config) (*Vault, error) {
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	path, fault := parsePath(cfg.Path)
	err := errors.Join(
		fields.Required("notes: Config.DB", cfg.DB, giveDB),
		fields.Required("notes: Config.Message", cfg.Message, "the function that returns a message"),
		fields.Required("notes: Config.Mailbox", cfg.Mailbox, "the function that returns the address of an account"),
		CheckFolder(cfg.Folder),
	)
	if fault != nil {
		err = errors.Join(err, fmt.Errorf("notes: Config.Path: %w", fault))
	}
	if err != nil {
		return nil, err
	}
	direct := func(_ context.Context, _ string, call func() error) error { return call() }
	return &Vault{cfg: cfg, path: path, outside: direct}, nil
}

// words are what errors call the vault.
var words = safefolder.Words{Package: "notes", What: "the vault", Instead: "another path of notes",
	Full: "give the path of notes more variables"}

func (v *Vault) open() (safefolder.Folder, error) { return safefolder.Open(v.cfg.Folder, words) }

// CheckFolder returns an error if there can be no vault at the path. The folder itself may be missing.
func CheckFolder(folder string) error { return safefolder.Check(folder, "/home/ada/vault", words) }
