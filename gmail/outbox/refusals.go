package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// RefusalsConfig configures [Refusals]. It is copied and checked once, by [NewRefusals].
type RefusalsConfig struct {
	// Store has the accounts. Required.
	Store *mailstore.Store
	// MaxRecipients and Names are those of [Config].
	MaxRecipients int
	Names         map[string]string
	// MayDelete returns why messages of the account cannot be deleted permanently, and what to do; nil if they can, or
	// nobody knows. It is called in a write transaction, and must not use the database. Default nil: nobody knows.
	MayDelete func(account mailstore.Account) error
}

// Refusals knows when an action is decided that it would be refused when it is carried out: a permanent deletion that
// the account has not granted; and what an [Outbox] would not send, as far as the message and the parameters tell.
// What needs Gmail's answer, or what was sent until then, is found out by the job. It is for the field Refusals of
// the configuration of package safety. It is safe for concurrent use. [NewRefusals] makes one; the zero Refusals is
// unusable.
type Refusals struct {
	cfg    RefusalsConfig
	outbox Config
}

// NewRefusals makes a Refusals; a bad configuration is an error that names the field.
func NewRefusals(cfg RefusalsConfig) (*Refusals, error) {
	outbox := Config{MaxRecipients: cmp.Or(cfg.MaxRecipients, defaultRecipients), Names: maps.Clone(cfg.Names)}
	err := errors.Join(fields.Required("outbox: RefusalsConfig.Store", cfg.Store, storeNeeded),
		outbox.checkRecipients("RefusalsConfig"))
	if err != nil {
		return nil, err
	}
	return &Refusals{cfg, outbox}, nil
}

// Refusal says to people why the action would be refused, and what to do; empty if nothing is known to speak against
// it. failed reports whether something is to be put right. msg is nil where the message was looked at before.
func (r *Refusals) Refusal(
	ctx context.Context, tx queue.Tx, accountID string, msg *postroom.Message, t postroom.ActionType,
	parameters postroom.Parameters,
) (why string, failed bool, err error) {
	deletes, sends := t == postroom.Delete && r.cfg.MayDelete != nil, sendsMessage(t) && msg != nil
	if !deletes && !sends {
		return "", false, nil
	}
	account, err := r.cfg.Store.AccountTx(ctx, tx, accountID)
	if err != nil {
		return "", false, maildb.IgnoreMissing(err) // its jobs say so
	}
	if deletes {
		if fault := r.cfg.MayDelete(account); fault != nil {
			why = fault.Error()
		}
		return why, true, nil
	}
	if fault := r.sending(msg, account.Email, t, parameters); fault != nil {
		why = fault.Error()
	}
	return why, false, nil
}

// sending returns why an outbox would not send what the action says, as far as that is known without Gmail. The
// mailbox may have other addresses besides its own, and Gmail knows the name of its owner.
func (r *Refusals) sending(msg *postroom.Message, mailbox string, t postroom.ActionType,
	parameters postroom.Parameters) error {
	own := []gmailapi.SendAs{{Email: mailbox, Name: mailbox, Primary: true}}
	p, err := compose(postroom.Action{Type: t, Parameters: parameters}, msg, own)
	if err != nil {
		return err
	}
	if fault := p.fault(msg, own, &r.outbox); fault != nil {
		return fault
	}
	return p.writable()
}

// writable returns an error for recipients that no message can be written to, such as those of a domain that has no
// name in ASCII.
func (p *Payload) writable() error {
	var to []mime.Address
	for _, values := range [][]string{p.To, p.Cc} {
		list, err := readAddresses(values)
		if err != nil {
			return err
		}
		to = append(to, list...)
	}
	message := mime.Outgoing{From: to[:1], To: to}
	if _, err := message.Recipients(); err != nil {
		return fmt.Errorf("a recipient: %w", err)
	}
	return nil
}
