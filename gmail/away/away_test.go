package away_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A world is a mailbox whose owner is away, at a time that the test sets.
type world struct {
	*testing.T
	db      queue.DB
	store   *mailstore.Store
	server  *gmailtest.Server
	service *away.Service
	account string
	now     time.Time
	known   map[string]bool

	state    postroom.ActionState // of the actions that are recorded
	recorded []postroom.Decision
	actions  []postroom.Action
	messages int
}

func onBoth(t *testing.T, test func(w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NoError(t, mailstore.Migrate(t.Context(), db))
		require.NoError(t, away.Migrate(t.Context(), db))
		store, err := mailstore.New(mailstore.Config{DB: db})
		require.NoError(t, err)
		server := gmailtest.NewServer(t)
		account, err := server.Account(t.Context(), "ada@example.org")
		require.NoError(t, err)
		client, err := gmailapi.NewClient(gmailapi.ClientConfig{Endpoint: server.URL(),
			HTTPClient: must(server.HTTPClient(t.Context(), account.Email())), Limits: gmailapi.Limits{Unlimited: true}})
		require.NoError(t, err)
		w := &world{T: t, db: db, store: store, server: server,
			now: time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC), known: map[string]bool{},
			state: postroom.ActionQueued}
		w.service, err = away.New(away.Config{Store: store, Correspondents: w, Now: func() time.Time { return w.now },
			Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil })})
		require.NoError(t, err)
		w.write(func(ctx context.Context, tx queue.Tx) (err error) {
			w.account, err = store.EnsureAccount(ctx, tx, "ada@example.org", time.Time{})
			return err
		})
		test(w)
	})
}

func must(c *http.Client, err error) *http.Client {
	if err != nil {
		panic(err)
	}
	return c
}

func (w *world) WrittenTo(_ context.Context, _, email string) (bool, error) {
	return w.known[email], nil
}

func (w *world) Record(_ context.Context, _ *postroom.Message, d postroom.Decision) func(context.Context, queue.Tx) (
	postroom.Action, error) {
	return func(context.Context, queue.Tx) (postroom.Action, error) {
		w.recorded = append(w.recorded, d)
		a := postroom.Action{ID: fmt.Sprintf("action %d", len(w.recorded)), AccountID: w.account, Type: d.Action,
			State: w.state}
		w.actions = append(w.actions, a)
		return a, nil
	}
}

func (w *world) write(fn func(ctx context.Context, tx queue.Tx) error) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), fn))
}

func (w *world) set(a away.Absence) (set away.Absence) {
	w.Helper()
	a.AccountID, a.SetBy, a.Text = w.account, "ada", "I am away until {{until}}, {{first_name|friend}}."
	if a.Until.IsZero() {
		a.Until = w.now.Add(30 * 24 * time.Hour)
	}
	w.write(func(ctx context.Context, tx queue.Tx) (err error) {
		set, err = w.service.Set(ctx, tx, a)
		return err
	})
	return set
}

// day returns the day of an instant, as people see it.
func day(at time.Time) string { return at.Local().Format(time.DateOnly) }

// message is one that is answered.
func (w *world) message(from string) *postroom.Message {
	w.messages++
	id := strconv.Itoa(w.messages)
	msg := &postroom.Message{ID: id, AccountID: w.account, ProviderID: id,
		ReceivedAt: w.now, LabelIDs: []string{"INBOX", "UNREAD"}}
	msg.From.Email, msg.To = from, []postroom.Address{{Email: "ada@example.org"}}
	msg.Headers = []postroom.Header{{Name: "Received", Value: "from mail.example.com by mx.google.com with ESMTPS id x"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=" + from[strings.IndexByte(from, '@')+1:]},
		{Name: "From", Value: from}}
	return msg
}

// answered reports whether a message is answered.
func (w *world) answered(msg *postroom.Message, decided ...postroom.Decision) bool {
	w.Helper()
	before := len(w.recorded)
	record, err := w.service.Decide(w.Context(), msg, decided, w)
	require.NoError(w, err)
	if record != nil {
		w.write(record)
	}
	return len(w.recorded) > before
}

// answeredOf counts how many of n messages are answered, all decided about before the first is recorded.
func (w *world) answeredOf(n int, from string) int {
	w.Helper()
	before := len(w.recorded)
	var records []func(ctx context.Context, tx queue.Tx) error
	for i := range n {
		record, err := w.service.Decide(w.Context(), w.message(fmt.Sprintf(from, i)), nil, w)
		require.NoError(w, err)
		records = append(records, record)
	}
	w.write(func(ctx context.Context, tx queue.Tx) error {
		for _, record := range records {
			if err := record(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return len(w.recorded) - before
}

func TestASenderIsAnsweredOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		require.False(w, w.answered(w.message("eve@example.com")), "nobody is away")
		a := w.set(away.Absence{})
		require.Equal(w, "I am away until "+day(a.Until.Add(-1))+", {{first_name|friend}}.", a.Text)
		require.Equal(w, 1, w.answeredOf(1000, "eve+%d@example.com"))
		require.True(w, w.answered(w.message("zoe@example.com")))
		w.now = w.now.Add(24 * time.Hour)
		longer := w.set(away.Absence{Until: w.now.Add(60 * 24 * time.Hour)})
		require.NotEqual(w, a.ID, longer.ID)
		require.False(w, w.answered(w.message("eve@example.com")), "it is the same absence")
		w.now = longer.Until
		require.False(w, w.answered(w.message("amy@example.com")), "it ends by its date")
		w.now = w.now.Add(time.Hour)
		w.set(away.Absence{})
		require.True(w, w.answered(w.message("eve@example.com")), "it is another one")
		w.write(func(ctx context.Context, tx queue.Tx) error {
			ended, err := w.service.End(ctx, tx, w.account, "ada")
			require.True(w, ended)
			return err
		})
		require.False(w, w.answered(w.message("amy@example.com")))
	})
}

func TestASenderIsAnsweredAgainAfterDays(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{Days: 4})
		var at []int
		for day := range 10 {
			if w.answered(w.message("eve@example.com")) {
				at = append(at, day)
			}
			w.now = w.now.Add(24*time.Hour + time.Second)
		}
		require.Equal(w, []int{0, 4, 8}, at)
	})
}

// An action that ends at once, such as one whose text lacks a name, leaves the turn to the next message.
func TestATurnIsGivenBack(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		w.state = postroom.ActionCanceled
		require.True(w, w.answered(w.message("eve@example.com")))
		w.state = postroom.ActionQueued
		require.True(w, w.answered(w.message("eve@example.com")))
		require.False(w, w.answered(w.message("eve@example.com")))

		record, err := w.service.Decide(w.Context(), w.message("amy@example.com"), nil, w)
		require.NoError(w, err)
		failed := errors.New("rolled back")
		require.ErrorIs(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(record(ctx, tx), failed)
		}), failed)
		require.True(w, w.answered(w.message("amy@example.com")), "the turn belongs to the decision's transaction")
	})
}

// So does one that ends later, unless it may have sent the answer; the end of another action of the message does not.
func TestATurnIsGivenBackLater(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		for _, state := range []postroom.ActionState{postroom.ActionCanceled, postroom.ActionRejected,
			postroom.ActionFailed} {
			require.True(w, w.answered(w.message("eve@example.com")), state)
			require.True(w, w.answered(w.message("zoe@example.com")), state)
			of := w.actions[len(w.actions)-2:]
			for _, ended := range []postroom.Action{
				{ID: of[0].ID, AccountID: w.account, Type: postroom.AutoReply, State: postroom.ActionCompleted},
				{ID: "another", AccountID: w.account, Type: postroom.AutoReply, State: state},
				{ID: of[0].ID, AccountID: w.account, Type: postroom.AutoReply, State: state,
					UndoHint: &postroom.UndoHint{Intent: postroom.Parameters{"rfc_message_id": "<a@b>"}}},
			} {
				w.write(func(ctx context.Context, tx queue.Tx) error { return away.Ended(ctx, tx, ended) })
				require.False(w, w.answered(w.message("eve@example.com")), ended)
			}
			for _, a := range of {
				a.State = state
				w.write(func(ctx context.Context, tx queue.Tx) error { return away.Ended(ctx, tx, a) })
			}
		}
		require.True(w, w.answered(w.message("eve@example.com")))
	})
}

// A change of an absence that is on leaves no gap, and one that is planned begins when it says.
func TestAChangedAbsenceGoesOn(t *testing.T) {
	onBoth(t, func(w *world) {
		w.now = w.now.Add(300 * time.Millisecond)
		first := w.set(away.Absence{})
		same := w.message("amy@example.com")
		same.ReceivedAt = w.now.Truncate(time.Second) // as Gmail says it
		require.True(w, w.answered(same))
		w.now = w.now.Add(time.Minute)
		waits := w.message("eve@example.com")
		w.now = w.now.Add(time.Minute)
		require.Equal(w, first.From, w.set(away.Absence{Days: 4}).From)
		require.True(w, w.answered(waits))

		later := away.Absence{AccountID: w.account, From: w.now.Add(24 * time.Hour), Until: w.now.Add(48 * time.Hour),
			Text: "Away.", SetBy: "ada"}
		err := w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := w.service.Set(ctx, tx, later)
			return err
		})
		require.ErrorContains(w, err, "leave out the first day to change that, or end it first")
		_, invalid := errors.AsType[*away.InvalidError](err)
		require.True(w, invalid)
		require.True(w, w.answered(w.message("joe@example.com")), "the one that is on goes on")
		w.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := w.service.End(ctx, tx, w.account, "ada")
			return err
		})
		w.set(away.Absence{From: w.now.Add(24 * time.Hour)})
		begins := w.now.Add(48 * time.Hour)
		require.Equal(w, begins, w.set(away.Absence{From: begins}).From.UTC())
		w.now = w.now.Add(time.Hour)
		require.Equal(w, w.now, w.set(away.Absence{}).From.UTC(), "it begins earlier than planned")
	})
}

// Who owns a domain has any number of addresses.
func TestADayHasABound(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		require.Equal(w, 100, w.answeredOf(300, "a%d@evil.example"))
		w.now = w.now.Add(25 * time.Hour)
		require.True(w, w.answered(w.message("eve@example.com")))
	})
}

func TestWhoIsNotAnswered(t *testing.T) {
	field := func(name, value string) func(m *postroom.Message) {
		return func(m *postroom.Message) { m.Headers = append(m.Headers, postroom.Header{Name: name, Value: value}) }
	}
	label := func(l string) func(m *postroom.Message) {
		return func(m *postroom.Message) { m.LabelIDs = append(m.LabelIDs, l) }
	}
	from := func(email string) func(m *postroom.Message) {
		return func(m *postroom.Message) {
			m.From.Email, m.Headers[2].Value = email, email
			m.Headers[1].Value = "mx.google.com; dmarc=pass header.from=" + email[strings.IndexByte(email, '@')+1:]
		}
	}
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		set := w.now
		w.now = w.now.Add(time.Hour)
		for name, change := range map[string]func(m *postroom.Message){
			"list":          field("List-Id", "<tea.example.com>"),
			"list's help":   field("List-Help", "<mailto:help@example.com>"),
			"newsletter":    field("List-Unsubscribe", "<https://example.com>"),
			"bulk":          field("Precedence", "bulk"),
			"program":       field("Auto-Submitted", "auto-generated"),
			"responder":     field("Auto-Submitted", "auto-replied"),
			"bounce":        field("Return-Path", "<>"),
			"report":        field("Content-Type", "multipart/report; report-type=delivery-status"),
			"suppressed":    field("X-Auto-Response-Suppress", "OOF"),
			"looped":        field("X-Loop", "ada@example.org"),
			"no-reply":      from("no-reply@example.com"),
			"daemon":        from("mailer-daemon@example.com"),
			"own address":   from("ada+x@example.org"),
			"two senders":   field("From", "amy@example.com"),
			"forged":        func(m *postroom.Message) { m.Headers[1].Value = "mx.google.com; dmarc=fail header.from=example.com" },
			"unverified":    func(m *postroom.Message) { m.Headers = m.Headers[2:] },
			"forged result": func(m *postroom.Message) { m.Headers[0].Value = "from a by mail.evil.example with ESMTPS id x" },
			"other domain":  func(m *postroom.Message) { m.Headers[1].Value = "mx.google.com; dmarc=pass header.from=evil.example" },
			"answers elsewhere": func(m *postroom.Message) {
				m.ReplyTo = []postroom.Address{{Email: "victim@example.com"}}
			},
			"to others":      func(m *postroom.Message) { m.To = []postroom.Address{{Email: "team@example.org"}} },
			"blind copy":     func(m *postroom.Message) { m.To = nil },
			"spam":           label("SPAM"),
			"trash":          label("TRASH"),
			"promotion":      label("CATEGORY_PROMOTIONS"),
			"came before":    func(m *postroom.Message) { m.ReceivedAt = set.Add(-time.Minute) },
			"no known time":  func(m *postroom.Message) { m.ReceivedAt = time.Time{} },
			"after the end":  func(m *postroom.Message) { m.ReceivedAt = set.Add(31 * 24 * time.Hour) },
			"another's copy": func(m *postroom.Message) { m.To, m.Cc = nil, []postroom.Address{{Email: "bob@example.org"}} },
		} {
			msg := w.message("eve@example.com")
			change(msg)
			require.False(w, w.answered(msg), name)
		}
		for _, action := range []postroom.ActionType{postroom.AutoReply, postroom.Trash, postroom.Delete} {
			rule := postroom.Decision{Action: action, Source: postroom.SourceDeterministic}
			require.False(w, w.answered(w.message("eve@example.com"), rule), action)
		}
		ok := w.message("eve@example.com")
		ok.To, ok.Cc = nil, []postroom.Address{{Email: "Ada+tag@Example.org"}}
		ok.ReplyTo = []postroom.Address{{Email: "EVE@example.com"}}
		require.True(w, w.answered(ok, postroom.Decision{Action: postroom.Archive, Source: postroom.SourceDeterministic}))

		w.set(away.Absence{Audience: away.Known})
		require.False(w, w.answered(w.message("zoe@example.com")))
		w.known["zoe@example.com"] = true
		require.True(w, w.answered(w.message("zoe@example.com")))
	})
}

// What has changed since the decision keeps the answer from being sent.
func TestAnAnswerIsConfirmed(t *testing.T) {
	onBoth(t, func(w *world) {
		w.set(away.Absence{})
		require.True(w, w.answered(w.message("eve@example.com")))
		permit := postroom.Permit{Decision: w.recorded[0]}
		confirm := func(msg *postroom.Message) string {
			fault, err := w.service.Confirm(w.Context(), msg, permit)
			require.NoError(w, err)
			return fault
		}
		require.Empty(w, confirm(w.message("eve@example.com")))
		spam := w.message("eve@example.com")
		spam.LabelIDs = []string{"SPAM"}
		require.Equal(w, "it is spam", confirm(spam))
		permit.LabelsNow = []string{"INBOX", "TRASH"}
		require.Equal(w, "it is in the trash", confirm(w.message("eve@example.com")), "whoever did that")
		permit.LabelsNow = nil
		w.set(away.Absence{Days: 3})
		require.Equal(w, "the absence was changed since", confirm(w.message("eve@example.com")))
		w.write(func(ctx context.Context, tx queue.Tx) error { return away.Forget(ctx, tx, w.account) })
		require.Equal(w, "the absence is no longer stored", confirm(w.message("eve@example.com")))
	})
}

// A mailbox that is not there, or will not be, has no absence.
func TestAnAbsenceIsOfAMailbox(t *testing.T) {
	onBoth(t, func(w *world) {
		a := away.Absence{Until: w.now.Add(time.Hour), Text: "Away.", SetBy: "ada"}
		refused := func(accountID, want string) {
			a.AccountID = accountID
			err := w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := w.service.Set(ctx, tx, a)
				return err
			})
			require.ErrorContains(w, err, want)
			_, invalid := errors.AsType[*away.InvalidError](err)
			require.True(w, invalid)
		}
		refused("nobody", "there is no mailbox nobody")
		q, err := queue.New(w.db, nil)
		require.NoError(w, err)
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.StartRemoval(ctx, tx, q, w.account) })
		refused(w.account, "the mailbox ada@example.org is being removed")
	})
}

// While Gmail does not say the addresses of a mailbox, the rules decide all the same: it is known by those of before,
// or by its own alone. Nothing is sent by its own alone.
func TestGmailKeepsTheAddressesToItself(t *testing.T) {
	onBoth(t, func(w *world) {
		owner, err := w.server.Account(w.Context(), "ada@example.org")
		require.NoError(w, err)
		service, err := owner.Service(w.Context())
		require.NoError(w, err)
		_, err = service.Users.Settings.SendAs.Create("me", &gmail.SendAs{SendAsEmail: "team@example.org"}).Do()
		require.NoError(w, err)
		toAlias := func(from string) *postroom.Message {
			msg := w.message(from)
			msg.To = []postroom.Address{{Email: "team@example.org"}}
			return msg
		}
		w.set(away.Absence{})
		fault := gmailtest.Fault{Method: gmailtest.SettingsSendAsList, Times: -1, Status: http.StatusBadRequest}
		w.server.Fault(fault)
		require.False(w, w.answered(toAlias("eve@example.com")))
		require.True(w, w.answered(w.message("eve@example.com")))
		permit := postroom.Permit{Decision: w.recorded[0]}
		_, err = w.service.Confirm(w.Context(), w.message("eve@example.com"), permit)
		require.Error(w, err, "it is tried again")

		w.server.ClearFaults()
		require.True(w, w.answered(toAlias("amy@example.com")))
		w.server.Fault(fault)
		w.now = w.now.Add(2 * time.Hour)
		require.True(w, w.answered(toAlias("zoe@example.com")), "the addresses of before are kept")
	})
}

func TestAnAbsenceIsChecked(t *testing.T) {
	onBoth(t, func(w *world) {
		good := away.Absence{AccountID: w.account, Until: w.now.Add(time.Hour), Text: "Away.", SetBy: "ada"}
		for want, change := range map[string]func(a *away.Absence){
			"it has no end; say its last day":                                   func(a *away.Absence) { a.Until = time.Time{} },
			"its last day, " + day(w.now.Add(-24*time.Hour-1)) + ", has passed": func(a *away.Absence) { a.Until = w.now.Add(-24 * time.Hour) },
			"more than 365 days ahead":                                          func(a *away.Absence) { a.Until = w.now.Add(366 * 24 * time.Hour) },
			"before it begins on " + day(w.now.Add(48*time.Hour)):               func(a *away.Absence) { a.From = w.now.Add(48 * time.Hour) },
			"it has no text to answer with":                                     func(a *away.Absence) { a.Text = " \n" },
			"at most 8192 are allowed":                                          func(a *away.Absence) { a.Text = strings.Repeat("x", 8193) },
			"{{name}} is no variable":                                           func(a *away.Absence) { a.Text = "Dear {{name}}" },
			"{{own_name}}, {{until}}":                                           func(a *away.Absence) { a.Text = "Dear {{name}}" },
			"write {{first_name|…}}, with":                                      func(a *away.Absence) { a.Text = "Dear {{ first_name }}, {{until}}" },
			"write {{own_name|…}}, with":                                        func(a *away.Absence) { a.Text = "{{date}} {{own_name|}}" },
			"it has {{ or }} that belong to no":                                 func(a *away.Absence) { a.Text = "Dear {{first_name|all}" },
			"no variable, and would be sent so":                                 func(a *away.Absence) { a.Text = "Dear all}}" },
			"again after 2 days; say 3 to 90":                                   func(a *away.Absence) { a.Days = 2 },
			`the audience is "friends"; say`:                                    func(a *away.Absence) { a.Audience = "friends" },
			"it names no mailbox":                                               func(a *away.Absence) { a.AccountID = "" },
			"it is not said who is away":                                        func(a *away.Absence) { a.SetBy = "" },
		} {
			a := good
			change(&a)
			_, err := w.service.Check(a)
			require.ErrorContains(w, err, want)
			_, invalid := errors.AsType[*away.InvalidError](err)
			require.True(w, invalid)
		}
		_, err := w.service.Check(good)
		require.NoError(w, err)
	})
}
