package decide

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
)

// TurnsConfig configures [Turns]. It is copied and checked once, by [NewTurns].
type TurnsConfig struct {
	// DB holds the counts. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Records are those of the model's calls. Required.
	Records *llm.Records
	// AccountBudget and TotalBudget are those of the model, see [llm.MeteredConfig]. Without a budget nobody is kept
	// waiting.
	AccountBudget, TotalBudget llm.Budget
	// Written reports whether the owner of the account has written to the address, or to somebody in the organizational
	// domain if it has no "@". Required.
	Written func(ctx context.Context, accountID, addressOrDomain string) (bool, error)
	// Now returns the present time. Default [time.Now].
	Now func() time.Time
}

// Turns keep one stranger from spending the budget of a day. An organizational domain that the owner has never written
// to gets a tenth of the messages that a model was asked about on the day, at least three; in a domain that the owner
// has written to, an address does. So does all mail whose sender is not verified, together: it can claim anybody. What
// is over that is asked about as long as half of the budget is left, and else waits for the next day, behind all other
// mail.
type Turns struct{ cfg TurnsConfig }

// NewTurns makes turns; a missing field is an error that names it.
func NewTurns(cfg TurnsConfig) (*Turns, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Turns{cfg: cfg}, errors.Join(
		fields.Required("llm/decide: TurnsConfig.DB", cfg.DB, giveDB),
		fields.Required("llm/decide: TurnsConfig.Records", cfg.Records, "what llm.NewRecords returns"),
		fields.Required("llm/decide: TurnsConfig.Written", cfg.Written, "what knows the owner's sent mail"),
	)
}

const (
	strangerLeast = 3  // messages of one stranger on a day
	strangerPart  = 10 // of those of the day, as a divisor

	// behindOthers is how long after the others a stranger's mail is asked about on the next day.
	behindOthers = 10 * time.Minute
)

// behind is how much longer than new mail a message waits that is to be asked about again: the newest is first.
func behind(msg *postroom.Message, now time.Time) time.Duration {
	const part, most = 10_000, 6 * time.Hour
	if msg.ReceivedAt.IsZero() {
		return 0
	}
	return min(max(0, now.Sub(msg.ReceivedAt)/part), most)
}

// A turn is a message's part of the calls of a day. The zero turn takes none.
type turn struct {
	turns            *Turns
	account, day, of string
}

// take takes a turn for a message, the sender of which is verified or not. The error is an [llm.Error] if it has to
// wait.
func (t *Turns) take(ctx context.Context, msg *postroom.Message, verified bool) (turn, error) {
	stranger, err := t.stranger(ctx, msg, verified)
	if err != nil {
		return turn{}, err
	}
	now := t.cfg.Now()
	roomy, err := t.roomy(ctx, msg.AccountID, now)
	if err != nil {
		return turn{}, err
	}
	today, tomorrow := t.cfg.Records.Day(now)
	taken := turn{t, msg.AccountID, today.Format(time.DateOnly), stranger}
	err = t.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		all, err := taken.add(ctx, tx, "", 1)
		if err != nil || stranger == "" {
			return err
		}
		own, err := taken.add(ctx, tx, stranger, 1)
		if err == nil && own > max(strangerLeast, all/strangerPart) && !roomy {
			err = &llm.Error{Provider: "llm", Reason: llm.ErrBudget, RetryAfter: tomorrow.Sub(now) + behindOthers,
				Hint: "it waits for the next day, or raise the budget",
				Err: fmt.Errorf("%s, from where the model was asked about %d of %d messages today",
					whoWaits(stranger), own-1, all-1)}
		}
		return err
	})
	return taken, err
}

// add counts a message of a sender, or of all for the empty one.
func (u turn) add(ctx context.Context, tx queue.Tx, sender string, n int) (sum int, err error) {
	if err = dbquery.Get(ctx, tx, &sum, sqlTakeTurn, u.account, u.day, sender, n); err == nil && sender == "" && sum == 1 {
		_, err = tx.ExecContext(ctx, sqlPruneTurns, u.account, u.day)
	}
	if err != nil {
		return 0, fmt.Errorf("count what a model is asked about: %w", err)
	}
	return sum, nil
}

// giveBack returns the turn of a message about which the model was not asked.
func (u turn) giveBack(ctx context.Context) error {
	if u.turns == nil {
		return nil
	}
	return u.turns.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := u.add(ctx, tx, "", -1)
		if err == nil && u.of != "" {
			_, err = u.add(ctx, tx, u.of, -1)
		}
		return err
	})
}

// ForgetTurns deletes the counts of an account, as when it is removed.
func ForgetTurns(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := tx.ExecContext(ctx, sqlForgetTurns, accountID); err != nil {
		return fmt.Errorf("llm/decide: forget the counts of account %s: %w", accountID, err)
	}
	return nil
}

// unverified counts all messages whose sender is not verified.
const unverified = "unverified"

func whoWaits(stranger string) string {
	if stranger == unverified {
		return "it is of a sender that is not verified"
	}
	return "you have never written to " + stranger
}

// stranger returns the domain, or the address, whose messages are counted; empty if the owner has written to it.
func (t *Turns) stranger(ctx context.Context, msg *postroom.Message, verified bool) (string, error) {
	if !verified {
		return unverified, nil
	}
	address := strings.ToLower(msg.From.Email)
	domain := authres.OrganizationalDomain(address)
	of := "an unknown sender"
	for _, name := range []string{domain, address} {
		if name == "" {
			return of, nil
		}
		of = name
		if written, err := t.cfg.Written(ctx, msg.AccountID, name); err != nil || !written {
			return of, err
		}
	}
	return "", nil
}

// roomy reports whether half of each budget is left.
func (t *Turns) roomy(ctx context.Context, accountID string, now time.Time) (bool, error) {
	for _, of := range []struct {
		account string
		budget  llm.Budget
	}{{accountID, t.cfg.AccountBudget}, {"", t.cfg.TotalBudget}} {
		if of.budget == (llm.Budget{}) {
			continue
		}
		spent, err := t.cfg.Records.Spent(ctx, of.account, now, now)
		if err != nil {
			return false, err
		}
		if b := of.budget; b.Tokens > 0 && 2*spent.Tokens > b.Tokens || b.Cost > 0 && 2*spent.Cost > b.Cost {
			return false, nil
		}
	}
	return true, nil
}
