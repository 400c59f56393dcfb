package gmailapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/text/cases"
	api "google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// A ClientConfig configures a [Client] for one mailbox.
type ClientConfig struct {
	// HTTPClient carries the requests and authorizes them, such as one of golang.org/x/oauth2. Required.
	HTTPClient *http.Client
	// Endpoint is the address of the API. Default Google's.
	Endpoint string
	// UserID is the mailbox's address. Default "me": the one that HTTPClient is authorized for.
	UserID string
	// Timeout bounds each call, from its sending to the last byte of the answer. Default 1 minute; it must not be
	// negative.
	Timeout time.Duration
	// Limits keep the client within Gmail's quota. The zero Limits are those that Gmail gives a new project.
	Limits Limits
	// Shared makes the Limits hold for all processes that share its database; nil for this process alone.
	Shared *SharedLimits
}

// SharedLimits say whose limits several processes keep together. On PostgreSQL the units per minute are kept exactly, a
// Retry-After after two seconds, and Concurrent is divided among the processes that call for the account, except
// during the seconds in which one joins. On other databases, which one process has to itself, they change nothing.
type SharedLimits struct {
	// DB has the tables quota_accounts and quota_leases. Required.
	DB queue.DB
	// AccountID is the account to which the limits apply. Required.
	AccountID string
}

// validate returns an error that names a missing field. Nil limits are shared by nobody.
func (s *SharedLimits) validate() error {
	if s == nil {
		return nil
	}
	if err := fields.Required("gmail: ClientConfig.Shared.DB", s.DB,
		"a database opened with queue/sqlite or queue/postgres"); err != nil {
		return err
	}
	if s.AccountID == "" {
		return errors.New(
			"gmail: ClientConfig.Shared.AccountID is empty; it is required: give the id of the account whose limits are shared")
	}
	return nil
}

// defaultCallTimeout bounds a call.
const defaultCallTimeout = time.Minute

// A Client calls Gmail for one mailbox. Each method makes one call unless it says otherwise, and returns [*Error]. It
// is safe for concurrent use. [NewClient] makes one; the zero Client is unusable.
type Client struct {
	service *api.Service
	user    string
	timeout time.Duration
	gate    *rateLimiter
}

// NewClient makes a client; a bad configuration is an error that names the field. It sends nothing: a wrong endpoint
// or a missing grant shows with the first call.
func NewClient(cfg ClientConfig) (*Client, error) {
	give := "a client that authorizes requests, such as oauth2.NewClient makes"
	if err := fields.Required("gmail: ClientConfig.HTTPClient", cfg.HTTPClient, give); err != nil {
		return nil, err
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("gmail: ClientConfig.Timeout is %v; it must be positive", cfg.Timeout)
	}
	if err := cfg.Shared.validate(); err != nil {
		return nil, err
	}
	gate, err := cfg.gate()
	if err != nil {
		return nil, fmt.Errorf("gmail: ClientConfig.%w", err)
	}
	return newClient(cfg, gate)
}

// gate makes the rateLimiter of the limits, and shares it if that is configured.
func (cfg *ClientConfig) gate() (*rateLimiter, error) {
	if cfg.Shared == nil || string(cfg.Shared.DB.Dialect()) != "postgres" {
		return newGate(cfg.Limits)
	}
	var fault error
	g, err := cfg.Limits.gate(func(l Limits) (shared budget) {
		timeout := cmp.Or(cfg.Timeout, defaultCallTimeout)
		shared, fault = newSharedBudget(cfg.Shared.DB, cfg.Shared.AccountID, l, timeout, time.Minute)
		return shared
	})
	return g, errors.Join(err, fault)
}

// newClient makes a client with a gate, for a configuration that has been checked.
func newClient(cfg ClientConfig, gate *rateLimiter) (*Client, error) {
	carrier := cfg.HTTPClient
	if root, ok := batchRoot(cfg.Endpoint); ok {
		carrier = batched(carrier, root)
	}
	options := []option.ClientOption{option.WithHTTPClient(carrier)}
	if cfg.Endpoint != "" {
		options = append(options, option.WithEndpoint(cfg.Endpoint))
	}
	// The context is for clients that the library makes by itself.
	service, err := api.NewService(context.Background(), options...)
	if err != nil {
		return nil, fmt.Errorf("gmail: %w", err)
	}
	return &Client{
		service: service, user: cmp.Or(cfg.UserID, "me"), timeout: cmp.Or(cfg.Timeout, defaultCallTimeout), gate: gate,
	}, nil
}

// QuotaWait estimates how long the calls, together, would wait for units of the account's quota now, or until Gmail
// permits them again after a Retry-After; 0: they need not wait. With canWait they leave some units, a sixth of
// [Limits].Burst, to calls that are more urgent. It makes no call. A job that asks before it begins can be deferred
// instead of waiting in a worker.
func (c *Client) QuotaWait(canWait bool, calls ...Method) time.Duration {
	return c.gate.wait(canWait, calls)
}

// do makes one call within the limits and the timeout. notFound is the class of a 404.
func (c *Client) do(ctx context.Context, method Method, op string, notFound Class,
	call func(context.Context) error) error {
	leave, err := c.gate.enter(ctx, method)
	if err != nil {
		return newError(op, notFound, err, time.Now())
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if method.inBatch() {
		ctx = context.WithValue(ctx, batchKey{}, true)
	}
	err = hintFor(method, newError(op, notFound, call(ctx), time.Now()))
	c.gate.note(method, err)
	return err
}

// A Profile describes the whole mailbox.
type Profile struct {
	Email     string
	HistoryID uint64 // of the latest change
	Messages  int64
	// At is when Gmail answered, by its clock, in whole seconds; zero if it does not say so.
	At time.Time
}

// Profile reads the address of the mailbox and its latest history id.
func (c *Client) Profile(ctx context.Context) (Profile, error) {
	var p *api.Profile
	// Each mailbox has a profile: a 404 passes by itself.
	err := c.do(ctx, MethodGetProfile, "get profile", ClassServer, func(ctx context.Context) (err error) {
		p, err = c.service.Users.GetProfile(c.user).Context(ctx).Do()
		return err
	})
	if err != nil {
		return Profile{}, err
	}
	at, _ := http.ParseTime(p.Header.Get("Date")) // a zero time if there is none
	return Profile{Email: p.EmailAddress, HistoryID: p.HistoryId, Messages: p.MessagesTotal, At: at}, nil
}

// MaxPageSize is the most ids that Gmail returns on a page.
const MaxPageSize = 500

// A MessageList selects messages to list.
type MessageList struct {
	// Query is a search as in Gmail's own search box; empty lists everything but spam and trash.
	Query string
	// LabelID lists only messages that carry the label; empty: with any labels or none.
	LabelID string
	// IncludeSpamTrash lists those as well.
	IncludeSpamTrash bool
	// PageToken is a MessagePage's NextPageToken; empty for the first page.
	PageToken string
	// Max is the maximum number of ids on a page. Default 100; bounds 1 to 500.
	Max int
}

// A MessagePage is one page of ids.
type MessagePage struct {
	IDs           []string
	Estimate      int64  // Gmail's guess at the number of messages on all pages
	NextPageToken string // empty on the last page
}

// ListMessages lists ids of messages. Gmail returns the newest first but does not promise it.
func (c *Client) ListMessages(ctx context.Context, list MessageList) (MessagePage, error) {
	if list.Max < 0 || list.Max > MaxPageSize {
		fault := fmt.Errorf("MessageList.Max is %d; it must be within 1 and %d, or 0 for the default", list.Max, MaxPageSize)
		return MessagePage{}, &Error{Op: "list messages", Class: ClassInvalid, Err: fault}
	}
	var page MessagePage
	err := c.do(ctx, MethodListMessages, "list messages", ClassNotFound, func(ctx context.Context) error {
		call := c.service.Users.Messages.List(c.user).Context(ctx).Q(list.Query).IncludeSpamTrash(list.IncludeSpamTrash)
		if list.PageToken != "" {
			call.PageToken(list.PageToken)
		}
		if list.LabelID != "" {
			call.LabelIds(list.LabelID)
		}
		if list.Max > 0 {
			call.MaxResults(int64(list.Max))
		}
		answer, err := call.Do()
		if err != nil {
			return err
		}
		for _, m := range answer.Messages {
			page.IDs = append(page.IDs, m.Id)
		}
		page.NextPageToken, page.Estimate = answer.NextPageToken, answer.ResultSizeEstimate
		return nil
	})
	return page, err
}

// A MessageState is Gmail's data about a message, without its content.
type MessageState struct {
	Snapshot  postroom.Snapshot
	HistoryID uint64 // of the message's latest change
}

// State returns the labels and the history id of a message.
func (c *Client) State(ctx context.Context, id string) (state MessageState, err error) {
	state.Snapshot, err = c.image(ctx, MethodGetMessage, "get labels of message "+id,
		func(ctx context.Context) (*api.Message, error) {
			m, err := c.service.Users.Messages.Get(c.user, id).Format("minimal").Context(ctx).Do()
			if err == nil {
				state.HistoryID = m.HistoryId
			}
			return m, err
		})
	return state, err
}

// GetImage returns the present labels of a message.
func (c *Client) GetImage(ctx context.Context, id string) (postroom.Snapshot, error) {
	state, err := c.State(ctx, id)
	return state.Snapshot, err
}

// From returns the field From of a message, as its sender wrote it; empty if there is none.
func (c *Client) From(ctx context.Context, id string) (from string, err error) {
	err = c.do(ctx, MethodGetMessage, "get sender of message "+id, ClassGone, func(ctx context.Context) error {
		m, err := c.service.Users.Messages.Get(c.user, id).Format("metadata").MetadataHeaders("From").
			Fields("payload/headers").Context(ctx).Do()
		if err == nil && m.Payload != nil && len(m.Payload.Headers) > 0 {
			from = m.Payload.Headers[0].Value
		}
		return err
	})
	return from, err
}

// Modify adds and removes labels and returns the labels of the message afterwards. Adding a label that is there, or
// removing one that is not, is no error. Use [Client.Trash] and [Client.Untrash] for TRASH.
func (c *Client) Modify(ctx context.Context, id string, change postroom.LabelChange) (postroom.Snapshot, error) {
	return c.image(ctx, MethodModifyMessage, "modify message "+id, func(ctx context.Context) (*api.Message, error) {
		request := &api.ModifyMessageRequest{AddLabelIds: change.Add, RemoveLabelIds: change.Remove}
		return c.service.Users.Messages.Modify(c.user, id, request).Context(ctx).Do()
	})
}

// Trash moves a message to the trash, from which Gmail deletes it after 30 days. Trashing a trashed message is no
// error.
func (c *Client) Trash(ctx context.Context, id string) (postroom.Snapshot, error) {
	return c.image(ctx, MethodTrash, "trash message "+id, func(ctx context.Context) (*api.Message, error) {
		return c.service.Users.Messages.Trash(c.user, id).Context(ctx).Do()
	})
}

// Untrash takes a message out of the trash. It does not put it back into the inbox.
func (c *Client) Untrash(ctx context.Context, id string) (postroom.Snapshot, error) {
	return c.image(ctx, MethodUntrash, "untrash message "+id, func(ctx context.Context) (*api.Message, error) {
		return c.service.Users.Messages.Untrash(c.user, id).Context(ctx).Do()
	})
}

// Snapshot makes a call about one message and returns the labels in its answer.
func (c *Client) image(ctx context.Context, method Method, op string,
	call func(context.Context) (*api.Message, error)) (postroom.Snapshot, error) {
	var m *api.Message
	err := c.do(ctx, method, op, ClassGone, func(ctx context.Context) (err error) {
		m, err = call(ctx)
		return err
	})
	if err != nil {
		return postroom.Snapshot{}, err
	}
	return postroom.NewSnapshot(m.LabelIds), nil
}

// Delete deletes a message permanently. It needs the full mail scope; gmail.modify does not allow it.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.do(ctx, MethodDelete, "delete message "+id, ClassGone, func(ctx context.Context) error {
		return c.service.Users.Messages.Delete(c.user, id).Context(ctx).Do()
	})
}

// ListLabels lists all labels of the mailbox; their Description and AvailableToClassifier are not Gmail's and stay
// zero.
func (c *Client) ListLabels(ctx context.Context) ([]postroom.Label, error) {
	var labels []postroom.Label
	err := c.do(ctx, MethodListLabels, "list labels", ClassNotFound, func(ctx context.Context) error {
		answer, err := c.service.Users.Labels.List(c.user).Context(ctx).Do()
		if err != nil {
			return err
		}
		for _, l := range answer.Labels {
			labels = append(labels, labelOf(l))
		}
		return nil
	})
	return labels, err
}

// A LabelColor is the color of a label, as #rrggbb in Gmail's palette. The zero LabelColor is none.
type LabelColor struct{ Text, Background string }

// CreateLabel creates a user label without a color, see [Client.CreateColoredLabel].
func (c *Client) CreateLabel(ctx context.Context, name string) (postroom.Label, error) {
	return c.CreateColoredLabel(ctx, name, LabelColor{})
}

// CreateColoredLabel creates a user label with a color. If Gmail has one of that name, in whatever case, it is found
// with a second call and returned with the color that it has. A name that [postroom.CheckLabelName] refuses is an error
// of [ClassInvalid], without a call.
func (c *Client) CreateColoredLabel(ctx context.Context, name string, color LabelColor) (postroom.Label, error) {
	op := "create label"
	if err := postroom.CheckLabelName(name); err != nil {
		return postroom.Label{}, &Error{Op: op, Class: ClassInvalid, Err: err}
	}
	op = fmt.Sprintf("create label %q", name)
	wanted := &api.Label{Name: name}
	if color != (LabelColor{}) {
		wanted.Color = &api.LabelColor{TextColor: color.Text, BackgroundColor: color.Background}
	}
	var created *api.Label
	err := c.do(ctx, MethodCreateLabel, op, ClassNotFound, func(ctx context.Context) (err error) {
		created, err = c.service.Users.Labels.Create(c.user, wanted).Context(ctx).Do()
		return err
	})
	switch {
	case ClassOf(err) == ClassConflict:
		return c.existingLabel(ctx, name, err)
	case err != nil:
		return postroom.Label{}, err
	}
	return labelOf(created), nil
}

func (c *Client) existingLabel(ctx context.Context, name string, conflict error) (postroom.Label, error) {
	labels, err := c.ListLabels(ctx)
	if err != nil {
		return postroom.Label{}, err
	}
	i := slices.IndexFunc(labels, func(l postroom.Label) bool { return SameLabelName(l.Name, name) })
	if i < 0 {
		return postroom.Label{}, conflict
	}
	return labels[i], nil
}

func labelOf(l *api.Label) postroom.Label {
	label := postroom.Label{ID: l.Id, Name: l.Name, Type: postroom.LabelUser}
	if l.Type == string(postroom.LabelSystem) {
		label.Type = postroom.LabelSystem
	}
	return label
}

// LabelNameKey is a label's name as Gmail compares names: without regard to case.
func LabelNameKey(name string) string { return cases.Fold().String(dbvalue.Clean(name)) }

// SameLabelName reports whether Gmail takes two names for that of one label.
func SameLabelName(a, b string) bool { return LabelNameKey(a) == LabelNameKey(b) }
