package gmailtest

import (
	"context"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// firstHistoryID is the first history id of a new mailbox.
const firstHistoryID = 1000

// prepare creates the tables, the profile and the system labels where they are missing.
func (s *Server) prepare(ctx context.Context, email string) error {
	wanted := email
	if email == "" {
		email = DefaultEmail
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := migrate.Run(ctx, tx, string(s.db.Dialect()), "gmailtest", migrations); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, createProfile, email, firstHistoryID); err != nil {
			return fmt.Errorf("create profile: %w", err)
		}
		return insertSystemLabels(ctx, tx)
	})
	if err != nil {
		return err
	}
	p, err := s.profile(ctx)
	if err != nil {
		return err
	}
	if wanted != "" && !strings.EqualFold(wanted, p.Email) {
		return fmt.Errorf("Config.Email is %s and the mailbox in this folder belongs to %s", wanted, p.Email)
	}
	s.email = p.Email
	return nil
}

type profileRow struct {
	Email        string `db:"email"`
	HistoryID    uint64 `db:"history_id"`
	HistoryFloor uint64 `db:"history_floor"`
	Messages     int64  `db:"messages"`
	Threads      int64  `db:"threads"`
}

func (s *Server) profile(ctx context.Context) (profileRow, error) {
	var p profileRow
	err := dbquery.Get(ctx, s.db.Reader(), &p, selectProfile)
	if err != nil {
		err = fmt.Errorf("read profile: %w", err)
	}
	return p, err
}

// A messageRow is a message with its labels, without its bytes.
type messageRow struct {
	ID           string   `db:"id"`
	ThreadID     string   `db:"thread_id"`
	RFC822ID     string   `db:"rfc822_id"`
	InternalDate int64    `db:"internal_date"` // milliseconds
	HistoryID    uint64   `db:"history_id"`
	Size         int64    `db:"size"`
	Snippet      string   `db:"snippet"`
	Labels       textList `db:"labels"` // sorted
}

// ref returns the form of the message in the answers of lists and changes.
func (m *messageRow) ref() *gmail.Message {
	return &gmail.Message{Id: m.ID, ThreadId: m.ThreadID, LabelIds: m.Labels}
}

func loadMessage(ctx context.Context, q dbquery.Querier, id string) (messageRow, error) {
	var m messageRow
	err := dbquery.Get(ctx, q, &m, selectMessage, id)
	return m, foundOr404(err)
}

// nextHistory is the id of one more change.
func nextHistory(ctx context.Context, tx queue.Tx) (uint64, error) {
	var id uint64
	err := dbquery.Get(ctx, tx, &id, nextHistoryID)
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
		return 0, invalidArgument("Invalid value at 'max_results': %q", value)
	}
	if n == 0 {
		n = 100
	}
	return min(n, limit), nil
}

// without gives the elements of list that are not in remove.
func without(list, remove []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(remove, s) })
}
