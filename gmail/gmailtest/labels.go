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

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
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

// systemLabels exist in every mailbox; their names are their ids.
var systemLabels = []string{
	labelInbox, labelUnread, "STARRED", "IMPORTANT", labelSent, labelDraft, labelSpam, labelTrash, "CHAT",
	"CATEGORY_PERSONAL", "CATEGORY_SOCIAL", "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS",
}

// fixedLabels can be neither added nor removed.
var fixedLabels = []string{labelSent, labelDraft, "CHAT"}

// Bounds of the labels of one mailbox.
const (
	maxLabelName = 225 // in characters
	maxLabels    = 10_000
)

// reservedLabels are lower-case names that Gmail reserves besides the ids of its labels.
var reservedLabels = []string{
	"all mail", "archive", "bin", "chats", "drafts", "junk", "muted", "scheduled", "sent mail", "snoozed",
}

type labelRow struct {
	Account           int64  `db:"account"`
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

// merge sets the fields that a request has. Empty fields are unchanged.
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

// nameKey returns a key that is equal for names that Gmail considers equal.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func insertSystemLabels(ctx context.Context, tx queue.Tx, account int64) error {
	for _, id := range systemLabels {
		l := labelRow{Account: account, ID: id, Name: id, Type: typeSystem}
		if strings.HasPrefix(id, "CATEGORY_") || id == "CHAT" || id == "IMPORTANT" {
			l.MessageVisibility, l.LabelVisibility = "hide", "labelHide"
		}
		if err := l.insert(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (l *labelRow) insert(ctx context.Context, tx queue.Tx) error {
	_, err := tx.ExecContext(ctx, insertLabel,
		l.Account, l.ID, l.Name, nameKey(l.Name), l.Type, l.MessageVisibility, l.LabelVisibility, l.TextColor,
		l.BackgroundColor)
	if err != nil {
		return fmt.Errorf("create label %s: %w", l.Name, err)
	}
	return nil
}

// newLabel creates a user label, or fails like Gmail.
func newLabel(ctx context.Context, tx queue.Tx, account int64, from *gmail.Label) (labelRow, error) {
	l := labelRow{Account: account, Type: typeUser, MessageVisibility: "show", LabelVisibility: "labelShow"}
	l.merge(from)
	if err := l.check(ctx, tx); err != nil {
		return l, err
	}
	var number int64
	if err := dbquery.Get(ctx, tx, &number, nextLabelNumber, account); err != nil {
		return l, err
	}
	if number > maxLabels { // there cannot be more without it
		var count int
		if err := dbquery.Get(ctx, tx, &count, countLabels, account); err != nil {
			return l, err
		}
		if count >= maxLabels {
			return l, wire.InvalidArgument("Too many labels: a mailbox has %d at most", maxLabels)
		}
	}
	l.ID = fmt.Sprintf("Label_%d", number)
	return l, l.insert(ctx, tx)
}

// check refuses invalid labels.
func (l *labelRow) check(ctx context.Context, tx queue.Tx) error {
	if err := l.checkColor(); err != nil {
		return err
	}
	if !slices.Contains([]string{"show", "hide"}, l.MessageVisibility) {
		return wire.InvalidArgument(
			"Invalid value at 'label.message_list_visibility' (type.googleapis.com/google.gmail.v1.MessageListVisibility), %q",
			l.MessageVisibility)
	}
	if !slices.Contains([]string{"labelShow", "labelShowIfUnread", "labelHide"}, l.LabelVisibility) {
		return wire.InvalidArgument(
			"Invalid value at 'label.label_list_visibility' (type.googleapis.com/google.gmail.v1.LabelListVisibility), %q",
			l.LabelVisibility)
	}
	return l.checkName(ctx, tx)
}

// checkColor refuses colors outside of the palette, and a text color without a background color or vice versa.
func (l *labelRow) checkColor() error {
	if l.TextColor == "" && l.BackgroundColor == "" {
		return nil
	}
	for _, color := range []string{l.TextColor, l.BackgroundColor} {
		if !slices.Contains(palette, strings.ToLower(color)) {
			return wire.InvalidArgument("Label color %s is not on the allowed color palette", color)
		}
	}
	return nil
}

// checkName refuses names that are blank, too long, reserved or in use by another label. A slash nests labels, so
// none may be at an end or next to another.
func (l *labelRow) checkName(ctx context.Context, tx queue.Tx) error {
	blankPart := slices.ContainsFunc(strings.Split(l.Name, "/"), func(part string) bool {
		return strings.TrimSpace(part) == ""
	})
	reserved := slices.Contains(systemLabels, strings.ToUpper(l.Name)) || slices.Contains(reservedLabels, nameKey(l.Name))
	if blankPart || reserved || utf8.RuneCountInString(l.Name) > maxLabelName {
		return wire.InvalidArgument("Invalid label name")
	}
	other, err := labelNamed(ctx, tx, l.Account, l.Name)
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

func labelNamed(ctx context.Context, q dbquery.Querier, account int64, name string) (labelRow, error) {
	var l labelRow
	err := dbquery.Get(ctx, q, &l, selectLabelNamed, account, nameKey(name))
	return l, err
}

func loadLabel(ctx context.Context, q dbquery.Querier, account int64, id string) (labelRow, error) {
	var l labelRow
	err := dbquery.Get(ctx, q, &l, selectLabel, account, id)
	return l, foundOr404(err)
}

// checkLabels refuses ids that name no label.
func checkLabels(ctx context.Context, q dbquery.Querier, account int64, ids []string) error {
	for _, id := range ids {
		var l labelRow
		err := dbquery.Get(ctx, q, &l, selectLabel, account, id)
		if errors.Is(err, sql.ErrNoRows) {
			return invalidLabel(id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) listLabels(ctx context.Context, r *request) (any, error) {
	var rows []labelRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, selectLabels, r.account.id); err != nil {
		return nil, err
	}
	response := &gmail.ListLabelsResponse{}
	for _, row := range rows {
		response.Labels = append(response.Labels, row.api())
	}
	return response, nil
}

func (s *Server) getLabel(ctx context.Context, r *request) (any, error) {
	row, err := loadLabel(ctx, s.db.Reader(), r.account.id, r.param("id"))
	if err != nil {
		return nil, err
	}
	var counts struct {
		Messages       int64 `db:"messages"`
		Threads        int64 `db:"threads"`
		UnreadMessages int64 `db:"unread_messages"`
		UnreadThreads  int64 `db:"unread_threads"`
	}
	if err := dbquery.Get(ctx, s.db.Reader(), &counts, countLabel, row.Account, row.ID); err != nil {
		return nil, err
	}
	label := row.api()
	label.MessagesTotal, label.MessagesUnread = counts.Messages, counts.UnreadMessages
	label.ThreadsTotal, label.ThreadsUnread = counts.Threads, counts.UnreadThreads
	label.ForceSendFields = []string{"MessagesTotal", "MessagesUnread", "ThreadsTotal", "ThreadsUnread"}
	return label, nil
}

func (s *Server) createLabel(ctx context.Context, r *request) (any, error) {
	var request gmail.Label
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	var row labelRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		row, err = newLabel(ctx, tx, r.account.id, &request)
		return err
	})
	return row.api(), err
}

func (s *Server) patchLabel(ctx context.Context, r *request) (any, error) {
	return s.changeLabel(ctx, r, false)
}

func (s *Server) updateLabel(ctx context.Context, r *request) (any, error) {
	return s.changeLabel(ctx, r, true)
}

// changeLabel merges the request into the label. An update, unlike a patch, must have a name.
func (s *Server) changeLabel(ctx context.Context, r *request, needName bool) (any, error) {
	var request gmail.Label
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	if needName && strings.TrimSpace(request.Name) == "" {
		return nil, wire.InvalidArgument("Invalid label name")
	}
	var row labelRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if row, err = loadUserLabel(ctx, tx, r.account.id, r.param("id")); err != nil {
			return err
		}
		row.merge(&request)
		if err := row.check(ctx, tx); err != nil {
			return err
		}
		return row.update(ctx, tx)
	})
	return row.api(), err
}

func (l *labelRow) update(ctx context.Context, tx queue.Tx) error {
	_, err := tx.ExecContext(ctx, updateLabel, l.Name, nameKey(l.Name),
		l.MessageVisibility, l.LabelVisibility, l.TextColor, l.BackgroundColor, l.Account, l.ID)
	return err
}

// loadUserLabel refuses system labels, which cannot be changed.
func loadUserLabel(ctx context.Context, tx queue.Tx, account int64, id string) (labelRow, error) {
	row, err := loadLabel(ctx, tx, account, id)
	if err == nil && row.Type == typeSystem {
		err = wire.InvalidArgument("Cannot modify system label %s", id)
	}
	return row, err
}

func (s *Server) deleteLabel(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return removeLabel(ctx, tx, r.account, r.param("id"))
	})
}

// removeLabel removes the label from its messages, with one change of history each, and from the filters. Then it
// deletes the label.
func removeLabel(ctx context.Context, tx queue.Tx, a *Account, id string) error {
	label, err := loadUserLabel(ctx, tx, a.id, id)
	if err != nil {
		return err
	}
	var messages []string
	if err := dbquery.Select(ctx, tx, &messages, selectMessagesLabeled, label.Account, label.ID); err != nil {
		return err
	}
	for _, id := range messages {
		if _, err := changeLabels(ctx, tx, label.Account, id, nil, []string{label.ID}); err != nil {
			return err
		}
	}
	if err := forgetLabelInFilters(ctx, tx, a, label.ID); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, deleteLabel, label.Account, label.ID)
	return err
}

// CreateLabels creates the user labels with these names that do not exist yet.
func (a *Account) CreateLabels(ctx context.Context, names ...string) error {
	return a.server.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, name := range names {
			if _, err := ensureLabel(ctx, tx, a.id, name); err != nil {
				return fmt.Errorf("gmailtest: create label %q: %w", name, err)
			}
		}
		return nil
	})
}

// ensureLabel returns the id of the label with the name. It creates the label if it is missing.
func ensureLabel(ctx context.Context, tx queue.Tx, account int64, name string) (string, error) {
	l, err := labelNamed(ctx, tx, account, name)
	if errors.Is(err, sql.ErrNoRows) {
		l, err = newLabel(ctx, tx, account, &gmail.Label{Name: name})
	}
	return l.ID, err
}

func invalidLabel(id string) error { return wire.InvalidArgument("Invalid label: %s", id) }

func labelExists() error {
	return &wire.Error{Status: http.StatusConflict, Reason: "aborted", Message: "Label name exists or conflicts"}
}

// palette are the permitted colors of labels, for text and for background.
var palette = []string{
	"#000000", "#434343", "#666666", "#999999", "#cccccc", "#efefef", "#f3f3f3", "#ffffff", "#fb4c2f", "#ffad47",
	"#fad165", "#16a766", "#43d692", "#4a86e8", "#a479e2", "#f691b3", "#f6c5be", "#ffe6c7", "#fef1d1", "#b9e4d0",
	"#c6f3de", "#c9daf8", "#e4d7f5", "#fcdee8", "#efa093", "#ffd6a2", "#fce8b3", "#89d3b2", "#a0eac9", "#a4c2f4",
	"#d0bcf1", "#fbc8d9", "#e66550", "#ffbc6b", "#fcda83", "#44b984", "#68dfa9", "#6d9eeb", "#b694e8", "#f7a7c0",
	"#cc3a21", "#eaa041", "#f2c960", "#149e60", "#3dc789", "#3c78d8", "#8e63ce", "#e07798", "#ac2b16", "#cf8933",
	"#d5ae49", "#0b804b", "#2a9c68", "#285bac", "#653e9b", "#b65775", "#822111", "#a46a21", "#aa8831", "#076239",
	"#1a764d", "#1c4587", "#41236d", "#83334c", "#464646", "#e7e7e7", "#0d3472", "#b6cff5", "#0d3b44", "#98d7e4",
	"#3d188e", "#e3d7ff", "#711a36", "#fbd3e0", "#8a1c0a", "#f2b2a8", "#7a2e0b", "#ffc8af", "#7a4706", "#ffdeb5",
	"#594c05", "#fbe983", "#684e07", "#fdedc1", "#0b4f30", "#b3efd3", "#04502e", "#a2dcc1", "#c2c2c2", "#4986e7",
	"#2da2bb", "#b99aff", "#994a64", "#f691b2", "#ff7537", "#ffad46", "#662e37", "#ebdbde", "#cca6ac", "#094228",
	"#42d692", "#16a765", "#757575", "#1e53b8", "#007286", "#7858c3", "#c2185b", "#d93025", "#54240e", "#633e04",
	"#521d28", "#202124", "#083018",
}
