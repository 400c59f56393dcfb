package gmailtest

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// firstHistoryID is the first history id of a new mailbox.
const firstHistoryID = 1000

// prepare creates the tables and the owner's account if they are missing.
func (s *Server) prepare(ctx context.Context, email string) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := migrate.Run(ctx, tx, string(s.db.Dialect()), "gmailtest", migrations); err != nil {
			return err
		}
		row, err := loadAccount(ctx, tx, selectOwner)
		if errors.Is(err, sql.ErrNoRows) {
			row, err = ensureAccount(ctx, tx, cmp.Or(email, DefaultEmail))
		}
		s.owner = s.account(row)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.indexAll(ctx); err != nil {
		return fmt.Errorf("read the words of messages: %w", err)
	}
	if email != "" && !strings.EqualFold(email, s.Email()) {
		return fmt.Errorf("Config.Email is %s and the mailbox in this folder belongs to %s", email, s.Email())
	}
	return nil
}

// A messageRow is a message with its labels, without its bytes.
type messageRow struct {
	Seq          int64    `db:"seq"`
	Account      int64    `db:"account"`
	ID           string   `db:"id"`
	ThreadID     string   `db:"thread_id"`
	RFC822ID     string   `db:"rfc822_id"`
	InternalDate int64    `db:"internal_date"` // milliseconds
	HistoryID    uint64   `db:"history_id"`
	Size         int64    `db:"size"`
	Snippet      string   `db:"snippet"`
	Labels       textList `db:"labels"` // sorted
}

// ref returns the form of the message in lists and changes.
func (m *messageRow) ref() *gmail.Message {
	return &gmail.Message{Id: m.ID, ThreadId: m.ThreadID, LabelIds: m.Labels}
}

// hidden reports whether lists leave the message out unless requested.
func (m *messageRow) hidden() bool {
	return slices.Contains(m.Labels, labelSpam) || slices.Contains(m.Labels, labelTrash)
}

// checkID refuses invalid ids of messages and threads, which are hexadecimal numbers.
func checkID(id string) error {
	if _, err := strconv.ParseUint(id, 16, 64); err != nil || len(id) > 16 {
		return wire.InvalidArgument("Invalid id value")
	}
	return nil
}

// loadMessageOf returns the message with the Message-ID, or sql.ErrNoRows.
func loadMessageOf(ctx context.Context, q dbquery.Querier, account int64, rfc822ID string) (messageRow, error) {
	var m messageRow
	err := dbquery.Get(ctx, q, &m, selectMessageOf, account, rfc822ID)
	return m, err
}

func loadMessage(ctx context.Context, q dbquery.Querier, account int64, id string) (messageRow, error) {
	var m messageRow
	if err := checkID(id); err != nil {
		return m, err
	}
	err := dbquery.Get(ctx, q, &m, selectMessage, account, id)
	return m, foundOr404(err)
}

// nextHistory returns the id of the next change.
func nextHistory(ctx context.Context, tx queue.Tx, account int64) (uint64, error) {
	var id uint64
	err := dbquery.Get(ctx, tx, &id, nextHistoryID, account)
	return id, err
}

// A textList is names or ids in a JSON column, or as one argument of a statement.
type textList []string

// Scan implements sql.Scanner.
func (l *textList) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("gmailtest: a list is stored as text, not %T", src)
	}
	return json.Unmarshal([]byte(text), l)
}

// Value implements driver.Valuer; nil is stored as the empty list.
func (l textList) Value() (driver.Value, error) {
	text, err := json.Marshal(append([]string{}, l...))
	return string(text), err
}

// maxResults reads the parameter of that name.
func maxResults(value string, limit int64) (int64, error) {
	if value == "" {
		return min(100, limit), nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, wire.InvalidArgument("Invalid value at 'max_results': %q", value)
	}
	if n == 0 {
		n = 100
	}
	return min(n, limit), nil
}

// without returns the elements of list that are not in remove.
func without(list, remove []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(remove, s) })
}

// foundOr404 converts a missing row into Gmail's response.
func foundOr404(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return wire.NotFound()
	}
	return err
}

// Save writes the state of the server into a new folder, from which [Open] starts another server: a test prepares a
// mailbox once and begins each case with a copy. A folder that already has a mailbox is refused. If Save fails, or
// the process dies, the folder has no mailbox.
func (s *Server) Save(ctx context.Context, dir string) error {
	path := filepath.Join(dir, stateFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("gmailtest: save: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("gmailtest: save: %s has a mailbox already; give a new folder", dir)
	}
	// An unfinished copy must not be mistaken for a mailbox.
	unfinished, err := os.CreateTemp(dir, stateFile+".*")
	if err != nil {
		return fmt.Errorf("gmailtest: save: %w", err)
	}
	err = errors.Join(unfinished.Close(), s.copyInto(ctx, unfinished.Name()))
	if err == nil {
		err = os.Rename(unfinished.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("gmailtest: save: %w", errors.Join(err, os.Remove(unfinished.Name())))
	}
	return nil
}

// copyInto writes the state into an empty file.
func (s *Server) copyInto(ctx context.Context, path string) error {
	conn, err := s.db.Reader().Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Reading connections refuse to write, even into another file.
	_, err = conn.ExecContext(ctx, "PRAGMA query_only = FALSE")
	if err == nil {
		_, err = conn.ExecContext(ctx, "VACUUM INTO $1", onDisk(path))
	}
	_, onlyErr := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = TRUE")
	return errors.Join(err, onlyErr)
}

// onDisk returns SQLite's name of a file, even if the state is in memory, where a plain name would be saved.
func onDisk(path string) string {
	vfs := "unix"
	if runtime.GOOS == "windows" {
		vfs = "win32"
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "vfs=" + vfs}).String()
}
