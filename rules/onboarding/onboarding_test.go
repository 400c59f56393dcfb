package onboarding_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/onboarding"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// mail is a message of a sender whom the server has verified.
func mail(from string, headers ...postroom.Header) *postroom.Message {
	domain := from[strings.IndexByte(from, '@')+1:]
	return &postroom.Message{From: postroom.Address{Name: "Somebody", Email: from}, ReceivedAt: noon,
		LabelIDs: []string{postroom.LabelInbox, postroom.LabelUnread},
		Headers: append([]postroom.Header{{Name: "Received", Value: "from out." + domain +
			" by mx.google.com with ESMTPS id x; Fri, 20 Nov 2026 08:00:00 -0800"},
			{Name: "Authentication-Results", Value: "mx.google.com; dkim=pass header.i=@" + domain +
				"; dmarc=pass (p=REJECT) header.from=" + domain}, {Name: "From", Value: from}}, headers...)}
}

func header(name, value string) postroom.Header { return postroom.Header{Name: name, Value: value} }

func times(n int, m *postroom.Message) (list []*postroom.Message) {
	for range n {
		list = append(list, m)
	}
	return list
}

func sequence(list []*postroom.Message) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func look(t require.TestingT, list []*postroom.Message, o onboarding.Options) onboarding.Report {
	r, err := onboarding.Look(sequence(list), o)
	require.NoError(t, err)
	return r
}

func mailbox() []*postroom.Message {
	nuts := header("List-Id", "Go Nuts <golang-nuts.googlegroups.com>")
	sent := mail("me@example.com")
	sent.LabelIDs = []string{postroom.LabelSent}
	invitation := mail("boss@work.example")
	invitation.Attachments = []postroom.Attachment{{ContentType: "text/calendar", Kind: "calendar"}}
	return slices.Concat(times(8, mail("ann@list.example", nuts)), times(2, mail("bob@list.example", nuts)),
		times(7, mail("news@shop.example", header("List-Unsubscribe", "<https://shop.example/u>"))),
		times(6, mail("no-reply@bank.example")), times(5, mail("friend@home.example")), times(4, sent), times(3, invitation),
		times(2, mail("cron@host.example", header("Auto-Submitted", "auto-generated"))))
}

func TestMailIsCountedAndRulesSuggested(t *testing.T) {
	r := look(t, mailbox(), onboarding.Options{Own: []string{"Me@Example.com"}})
	require.Equal(t, 37, r.Messages)
	require.Equal(t, []onboarding.Count{{Kind: onboarding.List, Messages: 10, Unread: 10},
		{Kind: onboarding.Automatic, Messages: 8, Unread: 8}, {Kind: onboarding.Newsletter, Messages: 7, Unread: 7},
		{Kind: onboarding.Person, Messages: 5, Unread: 5}, {Kind: onboarding.Sent, Messages: 4},
		{Kind: onboarding.Invitation, Messages: 3, Unread: 3}}, r.Kinds)
	require.Equal(t, onboarding.Sender{ID: "ann@list.example", Name: "Somebody", Kind: onboarding.List, Messages: 8,
		Unread: 8}, r.Senders[0])
	require.Len(t, r.Senders, 7, "all but the owner")
	require.Equal(t, []onboarding.Sender{{ID: "golang-nuts.googlegroups.com", Name: "Go Nuts", Kind: onboarding.List,
		Messages: 10, Unread: 10}}, r.Lists)

	require.Len(t, r.Rules, 3)
	require.Equal(t, onboarding.Suggestion{Name: "Label mail of golang-nuts.googlegroups.com",
		Condition: rules.Condition{Type: rules.ListID, Value: "golang-nuts.googlegroups.com"}, Label: "Lists/golang-nuts",
		Verified: true, Messages: 10, Why: "10 of the newest 37 messages"}, r.Rules[0])
	require.Equal(t, "Newsletters", r.Rules[1].Label)
	require.Equal(t, "Notifications/bank.example", r.Rules[2].Label)
	require.Equal(t, []onboarding.Label{{Name: "Lists/golang-nuts"}, {Name: "Newsletters"},
		{Name: "Notifications/bank.example"}}, r.Labels)
	text := string(rulesfile.Marshal(rulesfile.FileOf(r.Suggested())))
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err, text)
	require.Len(t, file.Rules, 3)
	for i := range file.Rules {
		require.NoError(t, file.Rules[i].Validate(nil))
		require.Equal(t, postroom.ApplyLabel, file.Rules[i].Action)
	}
}

func TestTheOwnersHabitsAreFollowed(t *testing.T) {
	own := postroom.Label{ID: "L1", Name: "Money", Type: postroom.LabelUser}
	bank := mail("no-reply@bank.example")
	bank.LabelIDs = append(bank.LabelIDs, "L1")
	list := append(times(8, bank), times(2, mail("no-reply@bank.example"))...)
	r := look(t, list, onboarding.Options{Labels: []postroom.Label{own}})
	require.Equal(t, "Money", r.Rules[0].Label)
	require.Equal(t, "8 of its 10 messages have this label already", r.Rules[0].Why)
	require.Equal(t, []onboarding.Label{{Name: "Money", Exists: true}}, r.Labels)
	r = look(t, list[1:], onboarding.Options{Labels: []postroom.Label{own}})
	require.Equal(t, "Notifications/bank.example", r.Rules[0].Label, "less than four fifths")

	rule := r.Suggested()[0]
	require.Empty(t, look(t, list, onboarding.Options{Rules: []rules.Rule{rule}}).Rules, "it is there")
	rule.Enabled, rule.Name = false, "Off"
	require.Len(t, look(t, list, onboarding.Options{Rules: []rules.Rule{rule}}).Rules, 1)
}

// A stranger writes any From, and any id of a list.
func TestStrangersSuggestNoRules(t *testing.T) {
	forged := mail("no-reply@bank.example")
	forged.Headers = forged.Headers[2:]
	require.Empty(t, look(t, times(50, forged), onboarding.Options{}).Rules, "nobody has verified it")
	mixed := append(times(9, mail("no-reply@bank.example")), forged)
	require.Empty(t, look(t, mixed, onboarding.Options{}).Rules, "one of ten is not verified")
	for _, id := range []string{"*@example.com", "ä.example", strings.Repeat("x", 300) + ".example"} {
		list := times(9, mail("ann@list.example", header("List-Id", "<"+id+">")))
		require.Empty(t, look(t, list, onboarding.Options{}).Rules, id)
	}
	require.Empty(t, look(t, times(4, mail("no-reply@bank.example")), onboarding.Options{}).Rules, "too little")
	require.Empty(t, look(t, times(50, mail("friend@home.example")), onboarding.Options{}).Rules, "a person")
}

// Whatever is in the mailbox: the counts add up, the bounds hold, and the report depends on nothing but the mail.
func TestReportsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*postroom.Message
		for i := range rapid.IntRange(0, 60).Draw(t, "sources") {
			m := mail(rapid.SampledFrom([]string{"no-reply@a.example", "ann@b.example", fmt.Sprintf("news%d@c.example", i),
				"MIXED@d.example"}).Draw(t, "from"))
			if rapid.Bool().Draw(t, "list") {
				m.Headers = append(m.Headers, header("List-Id", fmt.Sprintf("<l%d.example>", rapid.IntRange(0, 30).Draw(t, "id"))))
			}
			if rapid.Bool().Draw(t, "bulk") {
				m.Headers = append(m.Headers, header("Precedence", "bulk"))
			}
			list = append(list, times(rapid.IntRange(1, 40).Draw(t, "n"), m)...)
		}
		r := look(t, list, onboarding.Options{})
		require.Equal(t, r, look(t, list, onboarding.Options{}))
		require.Equal(t, min(len(list), onboarding.MaxMessages), r.Messages)
		all := 0
		for _, c := range r.Kinds {
			all += c.Messages
			require.LessOrEqual(t, c.Unread, c.Messages)
		}
		require.Equal(t, r.Messages, all)
		require.LessOrEqual(t, len(r.Rules), onboarding.MaxRules)
		require.LessOrEqual(t, len(r.Senders), 50)
		for i := range r.Rules {
			rule := r.Rules[i].Rule()
			require.NoError(t, rule.Validate(nil))
			require.GreaterOrEqual(t, r.Rules[i].Messages, 5)
			program, err := rules.Compile(rule.Condition)
			require.NoError(t, err)
			matched := 0
			for _, m := range list[:r.Messages] {
				if program.Match(m, noon) {
					matched++
				}
			}
			require.Equal(t, matched, r.Rules[i].Messages, "it is about the mail that the rule matches")
		}
	})
}

func newService(t testing.TB, q *queue.Queue, list *[]*postroom.Message) *onboarding.Service {
	t.Helper()
	s, err := onboarding.New(onboarding.Config{DB: q.DB(), Queue: q,
		Messages: func(_ context.Context, account string) iter.Seq2[*postroom.Message, error] {
			if account != "ada" {
				return func(yield func(*postroom.Message, error) bool) { yield(nil, postroom.ErrNotFound) }
			}
			return sequence(*list)
		}})
	require.NoError(t, err)
	return s
}

func start(t testing.TB, q *queue.Queue, s *onboarding.Service, account string) (jobID string) {
	t.Helper()
	require.NoError(t, q.DB().Write(context.Background(), func(ctx context.Context, tx queue.Tx) (err error) {
		jobID, err = s.Start(ctx, tx, account)
		return err
	}))
	return jobID
}

// Seed 001, AC-18 and its handler contract: email_processing.
func TestAJobStoresTheReport(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		list := mailbox()
		list[0].From.Name = "\x00Ann"
		s := newService(t, q, &list)
		_, err = s.Report(t.Context(), "ada")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		id := start(t, q, s, "ada")
		require.Equal(t, id, start(t, q, s, "ada"), "one at a time")
		gone := start(t, q, s, "bob")
		register := func(d *queue.Dispatcher) { require.NoError(t, s.Register(d)) }
		queuetest.Work(t, q, register)

		job, err := q.Job(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "email_processing", job.Type)
		require.JSONEq(t, `{"connection_id": "ada"}`, string(job.Payload))
		require.Equal(t, "ada", job.UserID)
		require.Contains(t, string(job.Result), `{"output_preview":"37 messages from 2026-11-20 to 2026-11-20\n`)
		require.LessOrEqual(t, len([]rune(string(job.Result))), 600)
		job, err = q.Job(t.Context(), gone)
		require.NoError(t, err)
		require.Equal(t, queue.StateCanceled, job.State)

		r, err := s.Report(t.Context(), "ada")
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), r.MadeAt, time.Minute)
		require.Len(t, r.Rules, 3)
		list = list[:5]
		start(t, q, s, "ada")
		queuetest.Work(t, q, register)
		r, err = s.Report(t.Context(), "ada")
		require.NoError(t, err)
		require.Equal(t, 5, r.Messages, "the latest")
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return s.Forget(ctx, tx, "ada")
		}))
		_, err = s.Report(t.Context(), "ada")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestAReportIsStoredOnceWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		require.NoError(t, onboarding.Migrate(t.Context(), q.DB()))
		list := mailbox()
		s := newService(t, q, &list)
		start(t, q, s, "ada")
		return queuetest.Scenario{Register: func(d *queue.Dispatcher) { require.NoError(t, s.Register(d)) }}
	})
}

func TestAnErrorOfTheMailIsReturned(t *testing.T) {
	broken := errors.New("broken")
	_, err := onboarding.Look(func(yield func(*postroom.Message, error) bool) { yield(nil, broken) }, onboarding.Options{})
	require.ErrorIs(t, err, broken)
	require.Equal(t, "0 messages\n0 rules are suggested", look(t, nil, onboarding.Options{}).String())
	_, err = onboarding.New(onboarding.Config{})
	require.ErrorContains(t, err, "Config.DB")
}
