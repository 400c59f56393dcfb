package unsubscribe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// A Way is how a list is left.
type Way string

// The ways to leave a list.
const (
	OneClick Way = "one_click" // a request to the list's server (RFC 8058)
	ByMail   Way = "mail"      // a mail to the address of the list
)

// The parameters of the action.
const (
	ParamWay = "way" // a [Way]; OneClick, if left out
	ParamTo  = "to"  // the address that ByMail writes to
)

var errNoLeaver = queue.Fatal(errors.New("unsubscribe: no lists are left here; the kind has no Leaver"))

// Kind returns the kind of action that leaves the list of its message. It is dangerous: who is subscribed again has to
// ask the list, so a person is asked before.
func (l *Leaver) Kind() postroom.Kind { return NewKind(func() *Leaver { return l }) }

// NewKind is [Leaver.Kind] with a function that returns the leaver when an action is carried out; a nil function, or
// one that returns nil, is for programs that only read rules.
func NewKind(leaver func() *Leaver) postroom.Kind {
	return postroom.Kind{
		Type:    ActionType,
		Summary: "leave the mailing list of the message; this cannot be taken back",
		Danger:  postroom.Dangerous,
		Parameters: []postroom.Parameter{
			{Name: ParamWay, Type: postroom.TextParameter, Values: []string{string(OneClick), string(ByMail)},
				Summary: "by the one click that the message offers (RFC 8058), or by a mail; one_click, if left out"},
			{Name: ParamTo, Type: postroom.TextParameter,
				Summary: "for mail: the address, which must be the one that the message names"},
		},
		Example: postroom.Parameters{},
		Check:   check,
		Ready: func(ctx context.Context, a postroom.Action) error {
			if leaver == nil || leaver() == nil {
				return nil // the Handler says so
			}
			_, err := leaver().open(ctx, a)
			return err
		},
		Handler: func(ctx context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			if leaver == nil {
				return postroom.Outcome{}, errNoLeaver
			}
			l := leaver()
			if l == nil {
				return postroom.Outcome{}, errNoLeaver
			}
			return l.handle(ctx, a)
		},
	}
}

// check returns an error about a mail without its address, and about an address without a mail: what a person approves
// says where it goes.
func check(p postroom.Parameters, _ time.Time) error {
	way, _ := p.Text(ParamWay)
	to, _ := p.Text(ParamTo)
	switch {
	case Way(way) == ByMail && to == "":
		return errors.New("way mail needs to, the address that is written to")
	case Way(way) != ByMail && to != "":
		return errors.New("to is for way mail alone; leave it out, or add way: mail")
	}
	return nil
}

// An opening is a list that may be left now, by what its message offers.
type opening struct {
	offer Offer
	way   Way
	left  bool // it was left already
}

// open reads the message of an action, and records that its list is about to be left. The error is a
// [*postroom.HeldError] while it may not be; an action that is recorded may always.
func (l *Leaver) open(ctx context.Context, a postroom.Action) (o opening, err error) {
	msg, err := l.cfg.Messages.Message(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return o, err
	}
	if msg == nil {
		return o, queue.Fatal(ErrNotOffered)
	}
	o.offer = l.Read(msg)
	record, err := l.plan(a, msg, o.offer)
	if err != nil {
		return o, err
	}
	room, err := l.reserve(ctx, record, msg.ReceivedAt)
	if err == nil && !room.until.IsZero() {
		err = &postroom.HeldError{Reason: room.why, Until: room.until}
	}
	o.way, o.left = record.Way, room.left
	return o, err
}

// handle leaves the list of an action's message.
func (l *Leaver) handle(ctx context.Context, a postroom.Action) (done postroom.Outcome, err error) {
	o, err := l.open(ctx, a)
	if held, ok := errors.AsType[*postroom.HeldError](err); ok { // it was started without having been asked
		return done, queue.Defer(held, max(time.Until(held.Until), time.Second))
	}
	if err != nil || o.left {
		return done, err
	}
	if o.way == ByMail {
		err = l.write(ctx, a, *o.offer.Write)
	} else {
		_, err = l.Leave(ctx, o.offer)
	}
	if err != nil {
		return done, err
	}
	return done, l.left(context.WithoutCancel(ctx), a.ID)
}

// plan returns what is about to be done, and refuses what the message does not offer.
func (l *Leaver) plan(a postroom.Action, msg *postroom.Message, offer Offer) (Record, error) {
	r := Record{ActionID: a.ID, AccountID: a.AccountID, MessageID: a.MessageID, Sender: mailname.Address(msg.From.Email),
		ListID: offer.ListID, Way: OneClick}
	if way, _ := a.Parameters.Text(ParamWay); Way(way) != ByMail {
		if offer.OneClick == nil {
			return r, queue.Fatal(fmt.Errorf("unsubscribe: %w", offer.Refused))
		}
		r.Target = offer.OneClick.Host
		return r, nil
	}
	r.Way = ByMail
	r.Target, _ = a.Parameters.Text(ParamTo)
	switch {
	case l.cfg.Drafts == nil:
		return r, queue.Fatal(errors.New("unsubscribe: no mail is written here: Config.Drafts is nil"))
	case offer.Write == nil:
		return r, queue.Fatal(fmt.Errorf("unsubscribe: %w", offer.NoMail))
	case !strings.EqualFold(offer.Write.To[0], r.Target):
		return r, queue.Fatal(fmt.Errorf("unsubscribe: the message names the address %s, and the action another: %s",
			offer.Write.To[0], r.Target))
	}
	return r, nil
}

// MailOf returns the subject and the text of the mail that leaves a list. A list that names neither gets a word.
func MailOf(m mime.Mailto) (subject, text string) {
	subject, text = m.Subject, m.Body
	if strings.TrimSpace(subject) == "" {
		subject = "unsubscribe"
	}
	if strings.TrimSpace(text) == "" {
		text = "unsubscribe"
	}
	return subject, text
}
