package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

const (
	labelInbox  = "INBOX"
	labelUnread = "UNREAD"
	labelSent   = "SENT"
	labelDraft  = "DRAFT"
	labelTrash  = "TRASH"
	labelSpam   = "SPAM"
)

const (
	typeSystem = "system"
	typeUser   = "user"
)

// systemLabels every mailbox has; their names are their ids.
var systemLabels = []string{
	labelInbox, labelUnread, "STARRED", "IMPORTANT", labelSent, labelDraft, labelSpam, labelTrash, "CHAT",
	"CATEGORY_PERSONAL", "CATEGORY_SOCIAL", "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS",
}

// fixedLabels can be neither added nor removed.
var fixedLabels = []string{labelSent, labelDraft, "CHAT"}

const maxLabelName = 225 // in characters

type labelRow struct {
	ID                string `db:"id"`
	Name              string `db:"name"`
	Type              string `db:"type"`
	MessageVisibility string `db:"message_visibility"`
	LabelVisibility   string `db:"label_visibility"`
	TextColor         string `db:"text_color"`
	BackgroundColor   string `db:"background_color"`
}

func (l *labelRow) api() *gmail.Label {
	label := &gmail.Label{
		Id: l.ID, Name: l.Name, Type: l.Type,
		MessageListVisibility: l.MessageVisibility, LabelListVisibility: l.LabelVisibility,
	}
	if l.TextColor != "" || l.BackgroundColor != "" {
		label.Color = &gmail.LabelColor{TextColor: l.TextColor, BackgroundColor: l.BackgroundColor}
	}
	return label
}

// merge takes over what a request sets; what it leaves empty stays.
func (l *labelRow) merge(from *gmail.Label) {
	set := func(field *string, value string) {
		if value != "" {
			*field = value
		}
	}
	set(&l.Name, strings.TrimSpace(from.Name))
	set(&l.MessageVisibility, from.MessageListVisibility)
	set(&l.LabelVisibility, from.LabelListVisibility)
	if from.Color != nil {
		set(&l.TextColor, from.Color.TextColor)
		set(&l.BackgroundColor, from.Color.BackgroundColor)
	}
}

// nameKey returns the key that is equal for names that Gmail treats as one.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func insertSystemLabels(ctx context.Context, tx queue.Tx) error {
	for _, id := range systemLabels {
		l := labelRow{ID: id, Name: id, Type: typeSystem, MessageVisibility: "hide", LabelVisibility: "labelHide"}
		if err := l.insert(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (l *labelRow) insert(ctx context.Context, tx queue.Tx) error {
	_, err := tx.ExecContext(ctx, insertLabel,
		l.ID, l.Name, nameKey(l.Name), l.Type, l.MessageVisibility, l.LabelVisibility, l.TextColor, l.BackgroundColor)
	if err != nil {
		return fmt.Errorf("create label %s: %w", l.Name, err)
	}
	return nil
}

// newLabel creates a user label, or fails as Gmail does.
func newLabel(ctx context.Context, tx queue.Tx, from *gmail.Label) (labelRow, error) {
	l := labelRow{Type: typeUser, MessageVisibility: "show", LabelVisibility: "labelShow"}
	l.merge(from)
	if err := l.checkName(ctx, tx); err != nil {
		return l, err
	}
	var number int64
	if err := dbquery.Get(ctx, tx, &number, nextLabelNumber); err != nil {
		return l, err
	}
	l.ID = fmt.Sprintf("Label_%d", number)
	return l, l.insert(ctx, tx)
}

// checkName refuses names that are blank, too long, reserved or in use by another label.
func (l *labelRow) checkName(ctx context.Context, tx queue.Tx) error {
	if l.Name == "" || utf8.RuneCountInString(l.Name) > maxLabelName || slices.Contains(systemLabels, strings.ToUpper(l.Name)) {
		return invalidArgument("Invalid label name")
	}
	other, err := labelNamed(ctx, tx, l.Name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case other.ID != l.ID:
		return labelExists()
	default:
		return nil
	}
}

func labelNamed(ctx context.Context, q dbquery.Querier, name string) (labelRow, error) {
	var l labelRow
	err := dbquery.Get(ctx, q, &l, selectLabelNamed, nameKey(name))
	return l, err
}

func loadLabel(ctx context.Context, q dbquery.Querier, id string) (labelRow, error) {
	var l labelRow
	err := dbquery.Get(ctx, q, &l, selectLabel, id)
	return l, foundOr404(err)
}

// checkLabels refuses ids that name no label.
func checkLabels(ctx context.Context, q dbquery.Querier, ids []string) error {
	for _, id := range ids {
		var l labelRow
		err := dbquery.Get(ctx, q, &l, selectLabel, id)
		if errors.Is(err, sql.ErrNoRows) {
			return invalidLabel(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) listLabels(ctx context.Context, _ *http.Request) (any, error) {
	var rows []labelRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, selectLabels); err != nil {
		return nil, err
	}
	response := &gmail.ListLabelsResponse{}
	for _, row := range rows {
		response.Labels = append(response.Labels, row.api())
	}
	return response, nil
}

func (s *Server) getLabel(ctx context.Context, r *http.Request) (any, error) {
	row, err := loadLabel(ctx, s.db.Reader(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var counts struct {
		Messages       int64 `db:"messages"`
		Threads        int64 `db:"threads"`
		UnreadMessages int64 `db:"unread_messages"`
		UnreadThreads  int64 `db:"unread_threads"`
	}
	if err := dbquery.Get(ctx, s.db.Reader(), &counts, countLabel, row.ID); err != nil {
		return nil, err
	}
	label := row.api()
	label.MessagesTotal, label.MessagesUnread = counts.Messages, counts.UnreadMessages
	label.ThreadsTotal, label.ThreadsUnread = counts.Threads, counts.UnreadThreads
	label.ForceSendFields = []string{"MessagesTotal", "MessagesUnread", "ThreadsTotal", "ThreadsUnread"}
	return label, nil
}

func (s *Server) createLabel(ctx context.Context, r *http.Request) (any, error) {
	var request gmail.Label
	if err := readJSON(r, &request); err != nil {
		return nil, err
	}
	var row labelRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		row, err = newLabel(ctx, tx, &request)
		return err
	})
	return row.api(), err
}

func (s *Server) patchLabel(ctx context.Context, r *http.Request) (any, error) {
	return s.changeLabel(ctx, r, false)
}

func (s *Server) updateLabel(ctx context.Context, r *http.Request) (any, error) {
	return s.changeLabel(ctx, r, true)
}

// changeLabel merges what the request has into the label. An update, unlike a patch, has to name it.
func (s *Server) changeLabel(ctx context.Context, r *http.Request, needName bool) (any, error) {
	var request gmail.Label
	if err := readJSON(r, &request); err != nil {
		return nil, err
	}
	if needName && strings.TrimSpace(request.Name) == "" {
		return nil, invalidArgument("Invalid label name")
	}
	var row labelRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if row, err = loadUserLabel(ctx, tx, r.PathValue("id")); err != nil {
			return err
		}
		row.merge(&request)
		if err := row.checkName(ctx, tx); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, updateLabel, row.Name, nameKey(row.Name),
			row.MessageVisibility, row.LabelVisibility, row.TextColor, row.BackgroundColor, row.ID)
		return err
	})
	return row.api(), err
}

// loadUserLabel refuses system labels, which are as they are.
func loadUserLabel(ctx context.Context, tx queue.Tx, id string) (labelRow, error) {
	row, err := loadLabel(ctx, tx, id)
	if err == nil && row.Type == typeSystem {
		err = invalidArgument("Cannot modify system label %s", id)
	}
	return row, err
}

// deleteLabel takes the label off its messages, one change of history each, and forgets it.
func (s *Server) deleteLabel(ctx context.Context, r *http.Request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		label, err := loadUserLabel(ctx, tx, r.PathValue("id"))
		if err != nil {
			return err
		}
		var messages []string
		if err := dbquery.Select(ctx, tx, &messages, selectMessagesLabeled, label.ID); err != nil {
			return err
		}
		for _, id := range messages {
			if _, err := changeLabels(ctx, tx, id, nil, []string{label.ID}); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, deleteLabel, label.ID)
		return err
	})
}

// CreateLabels makes sure that the mailbox has user labels of these names.
func (s *Server) CreateLabels(ctx context.Context, names ...string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, name := range names {
			if _, err := ensureLabel(ctx, tx, name); err != nil {
				return fmt.Errorf("gmailtest: create label %q: %w", name, err)
			}
		}
		return nil
	})
}

// ensureLabel gives the id of the label with the name, which it creates when it is missing.
func ensureLabel(ctx context.Context, tx queue.Tx, name string) (string, error) {
	l, err := labelNamed(ctx, tx, name)
	if errors.Is(err, sql.ErrNoRows) {
		l, err = newLabel(ctx, tx, &gmail.Label{Name: name})
	}
	return l.ID, err
}
