package filing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gocloud.dev/blob"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// DefaultPath is the path of a file if none is configured.
const DefaultPath = "{{year}}/{{date}} {{sender_name}} {{filename}}"

// varFilename is the variable for the name of the attached file, without its ending.
const varFilename = "filename"

// The bounds of what is filed.
const (
	// MaxSize is the largest file that is filed, in bytes. Gmail delivers none that is larger.
	MaxSize = safefolder.MostFile
	// MaxFiles are the most files of one action.
	MaxFiles = 100
)

// Config configures a [Cabinet]. It is copied and checked once, by [New].
type Config struct {
	// DB remembers which file was written for which message. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Folder is the absolute path of the folder that gets the files. It is not created: an action waits while it is
	// missing. On a disk that may not be mounted, give a folder below the mount point. Required without Bucket.
	Folder string
	// Bucket gets the files instead of a folder. Default nil.
	Bucket *blob.Bucket
	// Sync makes an object that was written to Bucket durable. Default nil: an object is durable when it is written, as
	// in clouds.
	Sync func(key string) error
	// Path is the path of a file, without its ending, with variables; see [CheckPath]. Default [DefaultPath].
	Path string
	// Message returns a message by its UUID. Required.
	Message func(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
	// Mailbox returns the address of an account. Required.
	Mailbox func(ctx context.Context, accountID string) (string, error)
	// Files returns the files that are attached to a message, such as by [FilesOf]. Required.
	Files func(ctx context.Context, m *postroom.Message) ([]File, error)
	// Zone is the time zone of dates. Default [time.Local].
	Zone *time.Location
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// A Cabinet keeps attached files. It is safe for concurrent use. [New] makes one.
type Cabinet struct {
	cfg Config
	// mu is held while files change: a file system without links cannot put a file only where none is.
	mu sync.Mutex
	// outside makes the calls that touch files.
	outside func(ctx context.Context, name string, call func() error) error
}

// New makes a cabinet; the error names what is wrong.
func New(cfg Config) (*Cabinet, error) {
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	err := errors.Join(
		fields.Required("filing: Config.DB", cfg.DB, giveDB),
		fields.Required("filing: Config.Message", cfg.Message, "the function that returns a message"),
		fields.Required("filing: Config.Mailbox", cfg.Mailbox, "the function that returns the address of an account"),
		fields.Required("filing: Config.Files", cfg.Files, "the function that returns the files of a message"),
	)
	switch {
	case cfg.Bucket == nil:
		err = errors.Join(err, CheckFolder(cfg.Folder))
	case cfg.Folder != "":
		err = errors.Join(err, errors.New("filing: Config.Folder and Config.Bucket are both set; give one of them"))
	}
	if fault := CheckPath(cfg.Path); fault != nil {
		err = errors.Join(err, fmt.Errorf("filing: Config.Path: %w", fault))
	}
	if err != nil {
		return nil, err
	}
	direct := func(_ context.Context, _ string, call func() error) error { return call() }
	return &Cabinet{cfg: cfg, outside: direct}, nil
}

// words are what errors call the folder.
var words = safefolder.Words{Package: "filing", What: "attached files", Instead: "another path of attached files",
	Full: "give the path of attached files more variables"}

// CheckFolder returns an error if files cannot be kept at the path. The folder itself may be missing.
func CheckFolder(folder string) error {
	return safefolder.Check(folder, "/home/ada/Attachments", words)
}

// Variables returns the names that a path may have in double braces, sorted.
func Variables() []string { return safefolder.Variables(varFilename) }

// CheckPath returns an error if no path of a file can be made of the text. It is relative to the folder, with slashes
// between folders, without the ending, which is that of the attached file, and has [Variables] in double braces.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

func parsePath(text string) (safefolder.Template, error) {
	return safefolder.ParseTemplate(text, DefaultPath, "", varFilename)
}
