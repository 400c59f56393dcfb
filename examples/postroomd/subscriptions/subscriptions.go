// Package subscriptions leaves mailing lists by a person's word: [Suggested] lists those that are hardly read, [Plan]
// says how each would be left, [Act] does it as one batch, and [NewLeft] watches whether mail still comes. [Block]
// writes a rule for what cannot be left.
package subscriptions

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/safety"
)

// What is suggested: senders with so many messages in so long, of which less than this share is read.
const (
	Window    = 90 * 24 * time.Hour
	AtLeast   = 5
	ReadBelow = 0.2
)

const (
	// Most is how many lists are left at once.
	Most = 100
	// looked is how many senders are looked at, and suggested how many of them are shown: others are no lists.
	looked    = 60
	suggested = 20
	// searched is how many of the newest messages of a sender are looked at for those of one list.
	searched = 50
	// listed is how many lists that were left are on a page.
	listed = 50
)

// The ways to leave a list besides those of package unsubscribe.
const (
	ByLink unsubscribe.Way = "link" // a page that a person opens
	NoWay  unsubscribe.Way = "none"
)

// A Subscription is a sender, and how its list is left.
type Subscription struct {
	Sender     string    `json:"sender"`
	Name       string    `json:"name,omitempty"`
	ListID     string    `json:"list_id,omitempty"`
	Messages   int       `json:"messages"`   // of 90 days; 0 if they were not counted
	ReadShare  float64   `json:"read_share"` // of Messages, from 0 to 1
	LastAt     time.Time `json:"last_at,omitzero"`
	LastReadAt time.Time `json:"last_read_at,omitzero"` // of the newest that is read; left out if none is
	MessageID  string    `json:"message_id"`            // Gmail's id of the newest message

	Way    unsubscribe.Way `json:"way"`              // one_click, mail, link or none
	Target string          `json:"target,omitempty"` // the host that is asked, or the address that is written to
	// Subject and Text are the mail that is written.
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text,omitempty"`
	Links   []Link `json:"links,omitempty"` // for a person to open; nobody has verified them
	Why     string `json:"why,omitempty"`   // why it is not left

	message *postroom.Message
}

// A Link is a page of the list's, as its mail names it.
type Link struct {
	Host string `json:"host"`
	URL  string `json:"url"`
}

// Percent is the share that is read, for people.
func (s *Subscription) Percent() int { return int(100 * s.ReadShare) }

// errOff reports that lists are not left here.
var errOff = usage.Errorf("Mailing lists are not left here: set unsubscribe.enabled to true, and start again.")

// Check returns an error if lists are not left here.
func Check(h *app.App) error {
	if h.Lists == nil {
		return errOff
	}
	return nil
}

// Suggested returns the lists of a mailbox that are hardly read, the 20 with the most messages first. What was left, is
// about to be, or is blocked by a rule is not suggested, nor is whom the person writes to.
func Suggested(ctx context.Context, h *app.App, account mailstore.Account) ([]Subscription, error) {
	if err := Check(h); err != nil {
		return nil, err
	}
	list := []Subscription{}
	newest, err := h.Mail.NewestReceived(ctx, account.ID)
	if err != nil || newest.IsZero() {
		return list, err
	}
	volumes, err := h.Mail.UnreadSenders(ctx, account.ID, mailstore.UnreadFilter{Since: newest.Add(-Window),
		AtLeast: AtLeast, ReadBelow: ReadBelow, Limit: looked})
	if err != nil {
		return nil, err
	}
	known, err := newKnown(ctx, h, account.ID)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(volumes, suggested) {
		found, err := known.suggest(ctx, h, account.ID, some)
		if err != nil {
			return nil, err
		}
		if list = append(list, found...); len(list) >= suggested {
			break
		}
	}
	return list[:min(len(list), suggested)], nil
}

// suggest returns the lists of senders that are not known, and not written to.
func (k *known) suggest(ctx context.Context, h *app.App, accountID string, volumes []mailstore.SenderVolume) (
	list []Subscription, err error) {
	for _, v := range volumes {
		s, err := find(ctx, h, accountID, v.Sender)
		switch {
		case errors.Is(err, postroom.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		case !isList(s.message) || k.knows(s):
			continue
		}
		s.Messages, s.ReadShare, s.LastAt, s.LastReadAt = v.Messages, v.ReadShare(), v.LastAt, v.LastReadAt
		list = append(list, *s)
	}
	return withoutWritten(ctx, h, accountID, list)
}

// withoutWritten leaves out whom the person has written to, at the address of the sender or at that of an answer.
func withoutWritten(ctx context.Context, h *app.App, accountID string, list []Subscription) ([]Subscription, error) {
	var emails []string
	for _, s := range list {
		emails = append(emails, s.addresses()...)
	}
	written, err := senders.Correspondents{Store: h.Mail}.AllWrittenTo(ctx, accountID, emails)
	return slices.DeleteFunc(list, func(s Subscription) bool {
		return slices.ContainsFunc(s.addresses(), func(email string) bool { return written[mailname.Address(email)] })
	}), err
}

// addresses are those of the sender, and of whom an answer goes to.
func (s *Subscription) addresses() []string {
	list := []string{s.message.From.Email}
	for _, to := range s.message.ReplyTo {
		list = append(list, to.Email)
	}
	return list
}

// isList reports whether a message says that it belongs to a list.
func isList(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Headers, func(f postroom.Header) bool {
		return strings.EqualFold(f.Name, "List-Id") || strings.EqualFold(f.Name, "List-Unsubscribe")
	})
}

// find reads how the list of a sender is left, by its newest message. A sender without one is [postroom.ErrNotFound].
func find(ctx context.Context, h *app.App, accountID, sender string) (*Subscription, error) {
	messages, err := newestFrom(ctx, h, accountID, sender, time.Time{}, 1)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, postroom.ErrNotFound
	}
	m := messages[0]
	s := &Subscription{Sender: mailname.Address(m.From.Email), Name: m.From.Name, MessageID: m.ProviderID,
		LastAt: m.ReceivedAt, message: m}
	s.read(h.Lists.Read(m))
	return s, nil
}

// newestFrom reads the newest messages of a sender since an instant, the newest first.
func newestFrom(ctx context.Context, h *app.App, accountID, sender string, since time.Time, limit int) (
	list []*postroom.Message, err error) {
	ids, err := h.Mail.NewestFrom(ctx, accountID, sender, since, limit)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		m, err := h.Mail.Message(ctx, accountID, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// read chooses the way: what a verified signature covers first, and else what a person does.
func (s *Subscription) read(offer unsubscribe.Offer) {
	s.ListID, s.Links = offer.ListID, links(offer.Web)
	switch {
	case offer.OneClick != nil:
		s.Way, s.Target = unsubscribe.OneClick, offer.OneClick.Host
		s.Links = nil // its page would ask once more
	case offer.Write != nil:
		s.Way, s.Target = unsubscribe.ByMail, offer.Write.To[0]
		s.Subject, s.Text = unsubscribe.MailOf(*offer.Write)
	case len(s.Links) > 0:
		s.Way, s.Why = ByLink, sentence(offer.Refused)
	default:
		s.Way, s.Why = NoWay, sentence(offer.NoMail)
		if errors.Is(offer.NoMail, unsubscribe.ErrNoMail) && len(offer.Mail) == 0 {
			s.Why = "its mail names no way to leave"
		}
	}
}

func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func links(urls []*url.URL) []Link {
	return printer.List(urls, func(u *url.URL) Link { return Link{u.Host, u.String()} })
}

// A known is what need not be suggested: the lists that were left or are about to be, and the senders and lists that
// rules keep away.
type known struct {
	left     map[string]time.Time // when it was left last, by [Subscription.list]
	underway map[string]bool      // senders whose list is being left
	pending  map[string]bool      // senders where that waits for an approval
	unasked  int                  // actions under way that do not count for the day yet
	blocked  map[string]string    // the name of the rule, by sender or list
}

// list tells the lists of a sender apart.
func (s *Subscription) list() string { return listKey(s.Sender, s.ListID) }

func listKey(sender, listID string) string { return mailname.Address(sender) + "\x00" + listID }

func newKnown(ctx context.Context, h *app.App, accountID string) (k known, err error) {
	k = known{left: map[string]time.Time{}, underway: map[string]bool{}, pending: map[string]bool{}}
	records, err := h.Lists.Records(ctx, accountID, 1000)
	if err != nil {
		return k, err
	}
	asked := map[string]bool{}
	for _, r := range records {
		asked[r.ActionID] = true
		if key := listKey(r.Sender, r.ListID); r.LeftAt.After(k.left[key]) {
			k.left[key] = r.LeftAt
		}
	}
	if err := k.addOpen(ctx, h, accountID, asked); err != nil {
		return k, err
	}
	k.blocked, err = blocked(ctx, h, accountID)
	return k, err
}

// addOpen adds the actions that are not at their end; asked are those that are recorded, by id.
func (k *known) addOpen(ctx context.Context, h *app.App, accountID string, asked map[string]bool) error {
	filter := safety.Filter{AccountID: accountID, Limit: 100, Types: []postroom.ActionType{unsubscribe.ActionType},
		States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionPendingApproval}}
	for {
		open, err := h.Ledger.Actions(ctx, filter)
		if err != nil {
			return err
		}
		for _, e := range open {
			sender := mailname.Address(e.Decision.Sender)
			if e.Action.State == postroom.ActionPendingApproval {
				k.pending[sender] = true
				continue
			}
			k.underway[sender] = true
			if !asked[e.Action.ID] {
				k.unasked++
			}
		}
		if len(open) < filter.Limit {
			return nil
		}
		filter.Before = open[len(open)-1].Action.ID
	}
}

func (k *known) knows(s *Subscription) bool {
	return !k.left[s.list()].IsZero() || k.underway[s.Sender] || k.pending[s.Sender] || k.blocks(s.Sender, s.ListID) != ""
}

// blocks returns the name of the rule that keeps the mail of a sender or a list out of the inbox; empty if none does.
func (k *known) blocks(sender, listID string) string {
	if rule := k.blocked[sender]; rule != "" {
		return rule
	}
	if listID == "" {
		return ""
	}
	return k.blocked[listID]
}
