package subscriptions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/safety"
)

// Grace is how long a list may send after it was left, before that is said: its next mail may be on its way.
const Grace = 10 * 24 * time.Hour

// watched is how many messages are counted that a list has sent since.
const watched = 5

// A Left is a list that a person, or a rule, has left, and what came of it.
type Left struct {
	ActionID  string               `json:"action_id"`
	Sender    string               `json:"sender"`
	ListID    string               `json:"list_id,omitempty"`
	MessageID string               `json:"message_id"` // Gmail's id of the message by which it was left
	Way       unsubscribe.Way      `json:"way"`
	Target    string               `json:"target,omitempty"`
	State     postroom.ActionState `json:"state"`
	Error     string               `json:"error,omitempty"`
	At        time.Time            `json:"at"`                // when it was decided
	LeftAt    time.Time            `json:"left_at,omitzero"`  // when the request was taken
	StillAt   time.Time            `json:"still_at,omitzero"` // of the newest message since, after the ten days
	Still     int                  `json:"still,omitempty"`   // how many came after the ten days; counted up to 5
	Many      bool                 `json:"many,omitempty"`    // there are more than that
	BlockedBy string               `json:"blocked_by,omitempty"`
	Links     []Link               `json:"links,omitempty"` // where it failed
}

// Watched reports whether the ten days are not over.
func (l *Left) Watched() bool { return !l.LeftAt.IsZero() && time.Since(l.LeftAt) < Grace }

// A LeftPage is a page of the lists that were left, or are about to be.
type LeftPage struct {
	Left []Left `json:"left"`
	Next string `json:"next,omitempty" jsonschema:"continues left; absent on the last page"`
}

// NewLeft lists the lists of a mailbox that were left, the latest first, each once, 50 a page. Before is Next of the
// page before. The first page, without one, begins with what waits: for an approval, or for its turn.
func NewLeft(ctx context.Context, h *app.App, account mailstore.Account, before string) (page LeftPage, err error) {
	if err := Check(h); err != nil {
		return page, err
	}
	records, next, err := h.Lists.Lists(ctx, account.ID, before, listed)
	if errors.Is(err, unsubscribe.ErrCursor) {
		err = usage.Errorf("this page is of no list of what was left: begin at the first page")
	}
	if err != nil {
		return page, err
	}
	actions, err := asked(ctx, h, records)
	if err == nil && before == "" {
		actions, err = withWaiting(ctx, h, account.ID, actions)
	}
	if err != nil {
		return page, err
	}
	rules, err := blocked(ctx, h, account.ID)
	if err != nil {
		return page, err
	}
	page = LeftPage{make([]Left, len(actions)), next}
	for i, a := range actions {
		l := &page.Left[i]
		*l = Left{ActionID: a.ID, Sender: a.record.Sender, State: a.State, Error: a.Error, At: a.CreatedAt}
		if err := l.fill(ctx, h, a.Action, a.record); err != nil {
			return page, err
		}
		l.BlockedBy = (&known{blocked: rules}).blocks(l.Sender, l.ListID)
	}
	return page, nil
}

// An askedAction is an action with what is on record of the list; the zero record, but for its sender, if nothing is.
type askedAction struct {
	postroom.Action

	record unsubscribe.Record
}

// asked returns the actions of records.
func asked(ctx context.Context, h *app.App, records []unsubscribe.Record) ([]askedAction, error) {
	list := make([]askedAction, len(records))
	for i, r := range records {
		a, err := h.Ledger.Action(ctx, r.ActionID)
		if err != nil {
			return nil, err
		}
		list[i] = askedAction{a, r}
	}
	return list, nil
}

// withWaiting puts the newest actions before others that are not on record yet.
func withWaiting(ctx context.Context, h *app.App, accountID string, others []askedAction) ([]askedAction, error) {
	waiting, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: accountID, Limit: listed,
		Types:  []postroom.ActionType{unsubscribe.ActionType},
		States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionPendingApproval}})
	if err != nil {
		return nil, err
	}
	var list []askedAction
	for _, e := range waiting {
		onRecord := func(o askedAction) bool { return o.ID == e.Action.ID }
		if !slices.ContainsFunc(others, onRecord) {
			list = append(list, askedAction{e.Action, unsubscribe.Record{Sender: mailname.Address(e.Decision.Sender)}})
		}
	}
	return append(list, others...), nil
}

// fill adds what the message and the record of an action say, and what has come since.
func (l *Left) fill(ctx context.Context, h *app.App, a postroom.Action, r unsubscribe.Record) error {
	way, _ := a.Parameters.Text(unsubscribe.ParamWay)
	if l.Way = unsubscribe.OneClick; way != "" {
		l.Way = unsubscribe.Way(way)
	}
	l.ListID, l.Target, l.LeftAt = r.ListID, r.Target, r.LeftAt
	m, err := h.Mail.Message(ctx, a.AccountID, a.MessageID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
	case err != nil:
		return err
	default:
		l.MessageID = m.ProviderID
		offer := h.Lists.Read(m)
		if l.ListID = offer.ListID; l.State == postroom.ActionFailed {
			l.Links = links(offer.Web)
		}
	}
	if l.LeftAt.IsZero() || l.Watched() {
		return nil
	}
	return l.watch(ctx, h, a.AccountID)
}

// watch counts what the list has sent after the ten days. Another list of the same sender is another one.
func (l *Left) watch(ctx context.Context, h *app.App, accountID string) error {
	messages, err := newestFrom(ctx, h, accountID, l.Sender, l.LeftAt.Add(Grace), searched)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if l.ListID != "" && listOf(m) != l.ListID {
			continue
		}
		if l.Still > watched {
			break
		}
		if l.Still++; m.ReceivedAt.After(l.StillAt) {
			l.StillAt = m.ReceivedAt
		}
	}
	if l.Many = l.Still > watched; l.Many {
		l.Still = watched
	}
	return nil
}

func listOf(m *postroom.Message) string {
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header.List().ID
}

// StillComes lists the lists that send though they were left, and that no rule keeps away.
func StillComes(list []Left) (still []Left) {
	for _, l := range list {
		if l.Still > 0 && l.BlockedBy == "" {
			still = append(still, l)
		}
	}
	return still
}

// Result says in words what came of it.
func (l *Left) Result() string {
	switch {
	case l.State == postroom.ActionFailed:
		return "failed: " + l.Error
	case l.State == postroom.ActionCanceled, l.State == postroom.ActionRejected:
		return strings.TrimSuffix("not left: "+l.Error, ": ")
	case l.State == postroom.ActionPendingApproval:
		return "waits for your approval"
	case l.LeftAt.IsZero():
		return "is being left"
	case l.BlockedBy != "":
		return "left, and blocked by a rule"
	case l.Watched():
		return "left; mail may still come until " + printer.Minute(l.LeftAt.Add(Grace))
	case l.Still > 0:
		return "left, and it still sends"
	}
	return "left, and nothing has come since"
}
