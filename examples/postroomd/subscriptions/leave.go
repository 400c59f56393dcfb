package subscriptions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// ErrChanged is the error of [Act] about what is not as it was shown. Nothing was done.
var ErrChanged = errors.New("how the lists are left is not what was shown: look at it again")

// A Request names the lists that a person wants to leave.
type Request struct {
	Account mailstore.Account
	Senders []string
	By      string
	Batch   string // the id of the batch, which a preview has named; empty: a new one
}

// A Preview says how lists would be left.
type Preview struct {
	Count   int            `json:"count"` // of Leave
	Leave   []Subscription `json:"leave"`
	NotLeft []Subscription `json:"not_left"` // with the reason, and links for a person to open
	PerDay  int            `json:"per_day"`
	Digest  string         `json:"digest"` // of what would be done
	Batch   string         `json:"-"`      // the id of the batch that would do it
}

// Plan says how lists would be left, and writes nothing.
func Plan(ctx context.Context, h *app.App, r Request) (*Preview, error) {
	if err := r.check(h); err != nil {
		return nil, err
	}
	p := &Preview{Leave: []Subscription{}, NotLeft: []Subscription{}, Batch: r.Batch}
	var err error
	if p.Batch == "" {
		if p.Batch, err = uuid7.New(); err != nil {
			return nil, err
		}
	}
	known, err := newKnown(ctx, h, r.Account.ID)
	if err != nil {
		return nil, err
	}
	room, perDay, err := h.Lists.Room(ctx, r.Account.ID)
	if err != nil {
		return nil, err
	}
	room, p.PerDay = room-known.unasked, perDay
	for _, sender := range r.Senders {
		s, err := find(ctx, h, r.Account.ID, sender)
		if errors.Is(err, postroom.ErrNotFound) {
			return nil, noMailFrom(r.Account, sender)
		}
		if err != nil {
			return nil, err
		}
		p.add(s, &known, room)
	}
	p.Count = len(p.Leave)
	p.Digest = p.digest(r.Account.ID)
	return p, nil
}

func (p *Preview) add(s *Subscription, k *known, room int) {
	switch {
	case k.underway[s.Sender]:
		s.Why, s.Links = "it is being left already", nil
	case k.pending[s.Sender]:
		s.Why, s.Links = "leaving it waits for your approval already", nil
	case k.left[s.list()].After(s.LastAt):
		s.Why, s.Links = "it was left already, at "+printer.Minute(k.left[s.list()])+", and nothing has come since", nil
	case s.Way != unsubscribe.OneClick && s.Way != unsubscribe.ByMail:
	case len(p.Leave) >= room:
		s.Why = fmt.Sprintf("%d lists are left within a day: do it tomorrow", p.PerDay)
	default:
		p.Leave = append(p.Leave, *s)
		return
	}
	p.NotLeft = append(p.NotLeft, *s)
}

// batchID is what the id of a batch looks like.
var batchID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// check also makes each sender one that is compared, and leaves out those that stand twice.
func (r *Request) check(h *app.App) error {
	if err := Check(h); err != nil {
		return err
	}
	var senders []string
	for _, s := range r.Senders {
		if s = mailname.Address(strings.TrimSpace(s)); s != "" && !slices.Contains(senders, s) {
			senders = append(senders, s)
		}
	}
	r.Senders = senders
	switch {
	case len(senders) == 0:
		return usage.Errorf("Name the senders whose lists are to be left.")
	case len(senders) > Most:
		return usage.Errorf("%d senders are too many: at most %d lists are left at once.", len(senders), Most)
	case r.Batch != "" && !batchID.MatchString(r.Batch):
		return usage.Errorf("The form is not one of this page: go back, and reload it.")
	}
	return nil
}

// digest is that of the messages and the ways, in any order.
func (p *Preview) digest(accountID string) string {
	lines := make([]string, len(p.Leave))
	for i, s := range p.Leave {
		lines[i] = fmt.Sprintf("%s %s %q %q %q", s.message.ID, s.Way, s.Target, s.Subject, s.Text)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{accountID}, lines...), "\n")))
	return hex.EncodeToString(sum[:])
}

// Done is what [Act] has recorded. Jobs carry it out.
type Done struct {
	Batch    string `json:"batch"`
	Recorded int    `json:"recorded"` // how many lists are to be left
	// NotDone are those that are not, by why.
	NotDone map[string]int `json:"not_done,omitempty"`
}

// Act leaves the lists that a preview has shown with this digest, in one transaction: the decisions are the person's
// own, who thereby approves them. What a request with a batch has done is not done again by another with the same.
func Act(ctx context.Context, h *app.App, r Request, digest string) (Done, error) {
	if h.Env.Config.Safety.DryRun {
		return Done{}, usage.Errorf("This is a dry run, which does nothing: set safety.dry_run to false first.")
	}
	if err := r.check(h); err != nil {
		return Done{}, err
	}
	if before, err := doneBefore(ctx, h, r); err != nil || before.any() {
		return before, err
	}
	p, err := Plan(ctx, h, r)
	switch {
	case err != nil:
		return Done{}, err
	case p.Digest != digest:
		if before, err := doneBefore(ctx, h, r); err != nil || before.any() {
			return before, err // another has been faster
		}
		return Done{}, ErrChanged
	case p.Count == 0:
		return Done{}, usage.Errorf("None of these lists can be left from here.")
	}
	done := Done{}
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		done = Done{Batch: p.Batch, NotDone: map[string]int{}}
		for i := range p.Leave {
			if err := done.record(ctx, tx, h, &p.Leave[i], r.By); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// record records the decision to leave a list, with the approval of the person who has made it.
func (done *Done) record(ctx context.Context, tx queue.Tx, h *app.App, s *Subscription, by string) error {
	d := postroom.Decision{Action: unsubscribe.ActionType, Confidence: 1, Source: postroom.SourceHost,
		Parameters: postroom.Parameters{unsubscribe.ParamWay: string(s.Way)}, Key: rules.BatchKey(done.Batch) + "1",
		Rationale: by + " chose to leave the list of " + s.Sender + ", as batch " + done.Batch}
	if s.Way == unsubscribe.ByMail {
		d.Parameters[unsubscribe.ParamTo] = s.Target
	}
	action, err := h.Ledger.Record(ctx, s.message, d)(ctx, tx)
	if err == nil && action.State == postroom.ActionPendingApproval {
		action, err = h.Ledger.Approve(ctx, tx, action.ID, by)
	}
	switch {
	case errors.Is(err, safety.ErrNotApprover):
		return usage.Wrap(err)
	case err != nil:
		return err
	case !isDone(action):
		done.NotDone[action.Error]++
	default:
		done.Recorded++
	}
	return nil
}

// isDone reports whether an action is carried out, or is to be.
func isDone(a postroom.Action) bool {
	return a.State == postroom.ActionQueued || a.State == postroom.ActionExecuting || a.State == postroom.ActionCompleted
}

// any reports whether anything was recorded.
func (done *Done) any() bool { return done.Recorded > 0 || len(done.NotDone) > 0 }

// doneBefore returns what the batch of a request has recorded before.
func doneBefore(ctx context.Context, h *app.App, r Request) (Done, error) {
	done := Done{Batch: r.Batch, NotDone: map[string]int{}}
	if r.Batch == "" {
		return done, nil
	}
	list, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: r.Account.ID, KeyPrefix: rules.BatchKey(r.Batch),
		Types: []postroom.ActionType{unsubscribe.ActionType}, Limit: Most})
	for _, e := range list {
		if isDone(e.Action) {
			done.Recorded++
		} else {
			done.NotDone[e.Action.Error]++
		}
	}
	return done, err
}
