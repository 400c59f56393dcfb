package notes

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, notes and note_files, or brings them up to date. Call it at every start;
// several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("notes: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/notes", migrations)
}

// A Note is one text about a message, in a file of the vault.
type Note struct {
	ID        string // the id of the action that made it
	AccountID string
	MessageID string // the id of the stored message
	// Path is that of the file, below the folder of the vault, with slashes. Empty: a person has removed the file, and
	// another note has its place.
	Path      string
	Text      string
	CreatedAt time.Time
}

type noteRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	MessageID string      `db:"message_id"`
	Path      string      `db:"path"`
	Text      string      `db:"text"`
	CreatedAt dbtime.Time `db:"created_at"`
}

func (r *noteRow) note() Note {
	return Note{ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, Path: r.Path, Text: r.Text,
		CreatedAt: r.CreatedAt.Time}
}

// A fileRow is a file that was written.
type fileRow struct {
	Path      string      `db:"path"`
	AccountID string      `db:"account_id"`
	MessageID string      `db:"message_id"`
	ThreadID  string      `db:"thread_id"`
	Attached  int         `db:"attached"`
	SHA256    string      `db:"sha256"`
	Earlier   string      `db:"earlier"`
	WrittenAt dbtime.Time `db:"written_at"`
}

// A Store reads what notes were written, also where there is no vault any more. It is safe for concurrent use.
// [NewStore] makes one.
type Store struct{ db queue.DB }

// NewStore makes a store on a database that [Migrate] has prepared.
func NewStore(db queue.DB) (*Store, error) {
	if err := fields.Required("notes: NewStore: db", db, giveDB); err != nil {
		return nil, err
	}
	return &Store{db}, nil
}

// Note returns a note by the id of its action, or [postroom.ErrNotFound].
func (s *Store) Note(ctx context.Context, id string) (Note, error) {
	var row noteRow
	err := dbquery.Get(ctx, s.db.Reader(), &row, sqlNote, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Note{}, fmt.Errorf("notes: read note %s: %w", id, err)
	}
	return row.note(), nil
}

// A Filter selects notes. The zero value selects those of all accounts.
type Filter struct {
	AccountID string // empty means all
	MessageID string // empty means all
	// Before continues a list: the id of the last note of the page before. Default: the first page.
	Before string
	// Limit is the most notes that are listed, from 1 to 1000. Default 50.
	Limit int
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List returns notes, those whose actions were decided last first.
func (s *Store) List(ctx context.Context, f Filter) ([]Note, error) {
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 0 || f.Limit > maxLimit {
		return nil, fmt.Errorf("notes: list: Filter.Limit is %d; it must be from 1 to %d, or 0 for %d", f.Limit, maxLimit,
			defaultLimit)
	}
	var where maildb.Filter
	where.Add("1 = 1")
	if f.AccountID != "" {
		where.Add("account_id = %s", f.AccountID)
	}
	if f.MessageID != "" {
		where.Add("message_id = %s", f.MessageID)
	}
	if f.Before != "" {
		where.Add("id < %s", f.Before)
	}
	query := "SELECT " + noteColumns + "\nFROM notes" + where.Where() + "\nORDER BY id DESC\nLIMIT " + where.Arg(f.Limit)
	var rows []noteRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, where.Args...); err != nil {
		return nil, fmt.Errorf("notes: list: %w", err)
	}
	list := make([]Note, len(rows))
	for i := range rows {
		list[i] = rows[i].note()
	}
	return list, nil
}

// Forget removes what is known of the notes of an account in the caller's transaction. The files stay.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetNotes, sqlForgetFiles} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("notes: forget account %s: %w", accountID, err)
		}
	}
	return nil
}

// A known is what was written about one message.
type known struct {
	notes []noteRow          // in the order of their actions
	files map[string]fileRow // by path
}

func (v *Vault) known(ctx context.Context, accountID, messageID string) (k known, err error) {
	db := v.cfg.DB.Reader()
	if err := dbquery.Select(ctx, db, &k.notes, sqlNotesOfMessage, accountID, messageID); err != nil {
		return k, fmt.Errorf("notes: read the notes of message %s: %w", messageID, err)
	}
	var files []fileRow
	if err := dbquery.Select(ctx, db, &files, sqlFilesOfMessage, accountID, messageID); err != nil {
		return k, fmt.Errorf("notes: read the files of message %s: %w", messageID, err)
	}
	k.files = make(map[string]fileRow, len(files))
	for _, f := range files {
		k.files[f.Path] = f
	}
	return k, nil
}

// texts returns the texts of a file, each once, without that of an action.
func (k known) texts(path, without string) (texts []string) {
	seen := map[string]bool{}
	for _, n := range k.notes {
		if n.Path == path && n.ID != without && !seen[n.Text] {
			texts, seen[n.Text] = append(texts, n.Text), true
		}
	}
	return texts
}

// last returns the file of the latest note that is still that of the message.
func (k known) last() (row fileRow, ok bool) {
	for _, n := range slices.Backward(k.notes) {
		if row, ok = k.files[n.Path]; ok {
			return row, true
		}
	}
	return row, false
}

// kept are the paths of the attached files, sorted.
func (k known) kept() (paths []string) {
	for path, f := range k.files {
		if f.Attached == 1 {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// earlier returns the path of the newest note of the thread, for the first note of a message.
func (v *Vault) earlier(ctx context.Context, m *postroom.Message) (path string, err error) {
	err = dbquery.Get(ctx, v.cfg.DB.Reader(), &path, sqlNewestOfThread, m.AccountID, m.ThreadID, m.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("notes: read the notes of thread %s: %w", m.ThreadID, err)
	}
	return path, nil
}

func saveFile(ctx context.Context, tx postroom.Tx, f fileRow) error {
	_, err := dbquery.Exec(ctx, tx, sqlSaveFile, f.Path, f.AccountID, f.MessageID, f.ThreadID, f.Attached, f.SHA256,
		f.Earlier, f.WrittenAt)
	if err != nil {
		return fmt.Errorf("notes: store the file %s: %w", f.Path, err)
	}
	return nil
}

// clean is a text as the database keeps it.
func clean(text string) string { return dbvalue.Clean(text) }
