// Package mailarchive keeps the mail of all mailboxes in the folder of the section [archive].
package mailarchive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"filippo.io/age"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// DueJob enqueues the work of all active mailboxes when its time has come.
const DueJob queue.Type[Due] = "archive.due"

// A Due says what is due.
type Due struct {
	Verify bool `json:"verify,omitempty"` // a part of each archive is verified; otherwise each mailbox is archived
}

// The names of the schedules.
const (
	RunSchedule    = string(archive.RunJob)
	VerifySchedule = string(archive.VerifyJob)
)

// Config is what a [Service] needs.
type Config struct {
	DB        queue.DB
	Mail      *mailstore.Store
	Clients   gmailapi.Clients
	Ledger    *safety.Ledger
	Archive   config.Archive
	SpamTrash bool
	Logger    *slog.Logger
}

// A Service is the archive of all mailboxes.
type Service struct {
	*archive.Archive
	cfg     Config
	bucket  *folder.Bucket
	release func() error // of the lock; nil without it
}

// Open opens the archive, whose folder is made if it is missing.
func Open(cfg Config) (*Service, error) {
	path, err := folder.Path(cfg.Archive.URL)
	if err != nil {
		return nil, usage.Errorf("archive.url: %w", err)
	}
	keys, err := ReadKeys(string(cfg.Archive.KeyFile))
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg}
	if s.bucket, err = folder.Open(path); err != nil {
		return nil, err
	}
	s.Archive, err = archive.New(archive.Config{DB: cfg.DB, Bucket: s.bucket.Bucket, Sync: s.bucket.Sync, Keys: keys,
		Store: cfg.Mail, Clients: cfg.Clients, Records: NewRecords(cfg.Ledger, cfg.Mail, time.Now),
		SpamTrash: cfg.SpamTrash, KeepMonths: cfg.Archive.KeepMonths(), Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, s.bucket.Close())
	}
	return s, nil
}

// ReadKeys reads the keys of a file that age-keygen has made; none for an empty path.
func ReadKeys(path string) (keys []*age.X25519Identity, err error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("archive.key_file: %w; make one with 'age-keygen -o FILE', and keep a copy elsewhere", err)
	}
	defer f.Close()
	identities, err := age.ParseIdentities(f)
	if err != nil {
		return nil, usage.Errorf("archive.key_file: %s holds no keys of age", path) // the error may quote a key
	}
	for _, identity := range identities {
		key, ok := identity.(*age.X25519Identity)
		if !ok {
			return nil, usage.Errorf("archive.key_file: a key in %s is none that begins with AGE-SECRET-KEY-1", path)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Lock keeps other processes from writing into the folder until Close. Whoever runs jobs needs it. Without locks on the
// file system it warns.
func (s *Service) Lock() (err error) {
	if s == nil || s.release != nil {
		return nil
	}
	s.release, err = s.bucket.Lock()
	switch {
	case errors.Is(err, folder.ErrLocked):
		err = usage.Errorf("archive.url: %w", err)
	case errors.Is(err, folder.ErrNoLocks):
		s.cfg.Logger.Warn("the file system of the archive has no locks: run one postroomd on it", "error", err)
		err = nil
	}
	return err
}

// Close closes the folder, and ends the lock.
func (s *Service) Close() error {
	err := s.bucket.Close()
	if s.release != nil {
		err = errors.Join(err, s.release())
	}
	return err
}

// Register registers the handlers of the jobs.
func (s *Service) Register(d *queue.Dispatcher) error {
	queue.Handle(d, DueJob, s.due)
	return s.Archive.Register(d)
}

// due enqueues the jobs of all active mailboxes.
func (s *Service) due(ctx context.Context, w *queue.Work[Due]) error {
	accounts, err := s.cfg.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	var jobs []queue.NewJob
	for i := range accounts {
		switch {
		case w.Payload.Verify:
			jobs = append(jobs, archive.NewVerifyJob(accounts[i].ID, false))
		case accounts[i].Usable() == nil:
			jobs = append(jobs, archive.NewRunJob(accounts[i].ID))
		}
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Queue().EnqueueManyTx(ctx, tx, jobs)
		return err
	})
}

func (d Due) job(name string) queue.NewJob {
	return DueJob.New(d, &queue.Options{Key: queue.WhileUnfinished(name)})
}

// Begin has each mailbox archived now, as at the start of the daemon: a new archive does not wait for its schedule.
func (s *Service) Begin(ctx context.Context, q *queue.Queue) error {
	if s == nil || s.cfg.Archive.Every == 0 {
		return nil
	}
	_, err := q.Enqueue(ctx, Due{}.job(RunSchedule))
	return err
}

// Schedules are those of what is due.
func Schedules(c config.Archive) (list []queue.Schedule) {
	if c.URL == "" {
		return nil
	}
	add := func(name string, every time.Duration, due Due) {
		if every > 0 {
			list = append(list, queue.Schedule{Name: name, Cron: "@every " + every.String(), Job: due.job(name)})
		}
	}
	add(RunSchedule, c.Every, Due{})
	add(VerifySchedule, c.Verify, Due{Verify: true})
	return list
}

// Of says to people how the archive of a mailbox is, and what is wrong with it. Both are empty for a nil Service.
func (s *Service) Of(ctx context.Context, accountID string, minute func(time.Time) string) (words, fault string,
	err error) {
	if s == nil {
		return "", "", nil
	}
	status, err := s.Status(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return "nothing yet", "", nil
	}
	if err != nil {
		return "", "", err
	}
	return Words(&status, minute), FaultOf(&status), nil
}

// Words says to people how the archive of a mailbox is.
func Words(s *archive.Status, minute func(time.Time) string) string {
	text := fmt.Sprintf("%d messages", s.Messages)
	switch {
	case s.RanAt.IsZero():
		text += ", the first copy goes on"
	default:
		text += ", last copy " + minute(s.RanAt)
	}
	if s.VerifiedAt.IsZero() {
		text += ", not verified yet"
	} else {
		text += ", verified " + minute(s.VerifiedAt)
	}
	if !s.Encrypted {
		text += ", not encrypted"
	}
	if s.Removed > 0 {
		text += fmt.Sprintf(", %d older ones removed", s.Removed)
	}
	if s.RemovedGone > 0 {
		text += fmt.Sprintf(" (%d of them Gmail has not any more)", s.RemovedGone)
	}
	return text
}

// Head identifies the last manifest of an archive, and so all before it.
func Head(s *archive.Status) string { return fmt.Sprintf("%d:%s", s.Number, s.Head) }

// FaultOf says to people what is wrong with the archive of a mailbox; empty if nothing is known to be.
func FaultOf(s *archive.Status) string {
	switch {
	case s.ChainFault != "":
		return s.ChainFault
	case s.Faults > 0:
		return fmt.Sprintf("%d archived messages are missing from the folder, altered, or encrypted with a key that is not in "+
			"archive.key_file: 'postroomd archive verify' names them", s.Faults)
	case s.Failure != "":
		return s.Failure
	case s.Unreadable > 0:
		return fmt.Sprintf("%d messages could not be read at Gmail; each copy tries them again", s.Unreadable)
	}
	return ""
}
