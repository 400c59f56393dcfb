package appointments

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/internal/safefolder"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// An Appointment is one that a message names.
type Appointment struct {
	ID    string // the same each time the message is asked, and of no other appointment; such as its UID
	Day   string // on which it begins, as 2006-01-02
	Title string
	ICS   []byte // a calendar with it alone
	Over  bool   // nothing is written about it any more
}

// Found is what a message names by now.
type Found struct {
	Owner   string // the address of the mailbox
	Subject string // of a draft
	Text    string // of a draft
	List    []Appointment
}

// Drafts makes drafts, one for each key; *[outbox.Drafts] implements it.
type Drafts interface {
	Create(ctx context.Context, accountID, key string, content outbox.DraftContent) (outbox.Draft, error)
}

// Config configures a [Keeper]. It is copied and checked once, by [New].
type Config struct {
	// Queue holds the jobs and, in its database, where appointments are kept; [Migrate] must have prepared it. Required.
	Queue *queue.Queue
	// Find returns the appointments of a message that stand, and of which the owner is sure. The error
	// [postroom.ErrNotFound] says that the message is gone: what is kept of it stays. One of package gmailapi, such as
	// that of a paused account, is taken as [gmailapi.Verdict] says. Required.
	Find func(ctx context.Context, accountID, messageID string) (Found, error)
	// Folder is the absolute path of the folder for the files. It is not created: jobs wait while it is missing. Either
	// it or Drafts is required.
	Folder string
	// Drafts makes the drafts.
	Drafts Drafts
	// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox; *safety.Ledger has such a method.
	// Jobs wait then. Default nil: they never wait.
	Held func(ctx context.Context) error
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// A Keeper keeps appointments. It is safe for concurrent use. [New] makes one.
type Keeper struct {
	cfg Config
	// mu is held while files change: a file system without links cannot put a file only where none is.
	mu sync.Mutex
	// outside makes the calls that touch files.
	outside func(ctx context.Context, name string, call func() error) error
}

// New makes a keeper; the error names what is wrong.
func New(cfg Config) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	err := errors.Join(
		fields.Required("appointments: Config.Queue", cfg.Queue, "one made by queue.New"),
		fields.Required("appointments: Config.Find", cfg.Find, "the function that returns the appointments of a message"),
		fields.Optional("appointments: Config.Drafts", cfg.Drafts),
	)
	switch {
	case (cfg.Folder == "") == (cfg.Drafts == nil):
		err = errors.Join(err, errors.New("appointments: give one of Config.Folder and Config.Drafts"))
	case cfg.Folder != "":
		err = errors.Join(err, CheckFolder(cfg.Folder))
	}
	if err != nil {
		return nil, err
	}
	direct := func(_ context.Context, _ string, call func() error) error { return call() }
	return &Keeper{cfg: cfg, outside: direct}, nil
}

// words are what errors call the folder.
var words = safefolder.Words{Package: "appointments", What: "appointments", Instead: "another folder of appointments",
	Full: "move some of them elsewhere"}

// CheckFolder returns an error if no files can be kept at the path. The folder itself may be missing.
func CheckFolder(folder string) error { return safefolder.Check(folder, "/home/ada/calendar", words) }
