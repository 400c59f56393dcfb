package chaos

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// TestEverythingOnceWhateverHappens: mail comes in while workers are killed, calls fail or lose their answers,
// notifications are lost, doubled and late, Gmail forgets its history, and people have their hands in it. Each
// message is ingested and classified once, each action is carried out once, each reply and forward arrives once, and
// the store is the mailbox.
func TestEverythingOnceWhateverHappens(t *testing.T) {
	small := size{messages: 24, mailboxes: 2, kills: 2}
	eachSeed(t, sizeOf(t, small), seedsOf(t, 1), func(t *testing.T, database string, size size) {
		s := &soak{world: newWorld(t, database, size)}
		s.prepare()
		for range s.messages / acts / 2 {
			s.arrive()
		}
		for _, m := range s.mailboxes {
			s.enqueue(gmail.NewWatchJob(m.id), gmail.NewBackfillJob(m.id, "", ""), gmail.NewHistorySyncJob(m.id, 0))
		}
		for act := range acts {
			s.perform()
			s.settle()
			s.check()
			t.Logf("act %d: %v", act+1, s.server.Counts())
		}
		s.wake()
		s.check()
	})
}

const acts = 2

// A soak is a world in which much happens at once.
type soak struct {
	*world

	mu     sync.Mutex
	events []func() error // what is still to happen in this act
	held   []*gmailtest.Gate
}

// perform performs an act: all events, between what the workers do, who are killed over and over.
func (s *soak) perform() {
	s.server.Fault(s.faults()...)
	s.server.FaultPushes(s.pushFaults()...)
	s.plan()
	lines := make([]int, s.kills)
	for i := range lines {
		lines[i] = 1 + s.IntN(1+24*s.messages/acts/s.kills)
	}
	var processes sync.WaitGroup
	for i := range 2 {
		processes.Go(func() {
			for n := i; n < s.kills && !s.Failed(); n += 2 {
				if err := workAndKill(orders{Place: s.place, Lease: 500 * time.Millisecond}, lines[n], s.next); err != nil {
					s.Error(err)
				}
			}
		})
	}
	processes.Wait()
	for s.next() {
	}
	for _, gate := range s.held {
		gate.Open()
	}
	s.held = nil
	require.False(s, s.Failed())
}

// plan shuffles what happens in an act.
func (s *soak) plan() {
	s.events = nil
	repeat := func(n int, event func() error) {
		for range n {
			s.events = append(s.events, event)
		}
	}
	n := s.messages / acts
	repeat(n-len(s.mailboxes), s.arrive)
	repeat(n, s.touch)
	repeat(1+n/10, s.disturb)
	repeat(1+n/10, s.poll)
	repeat(1+len(s.held)/2, s.release)
	repeat(1+len(s.mailboxes)/5, s.forget)
	s.Shuffle(len(s.events), func(i, j int) { s.events[i], s.events[j] = s.events[j], s.events[i] })
}

// next lets the next thing happen; more reports whether there are others.
func (s *soak) next() (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		return false
	}
	event := s.events[0]
	s.events = s.events[1:]
	if err := event(); err != nil {
		s.Error(err)
	}
	return len(s.events) > 0
}

func (s *soak) mailbox() *mailbox { return s.mailboxes[s.IntN(len(s.mailboxes))] }

// arrive delivers a message. Sortings come round, so that each has its share.
func (s *soak) arrive() error {
	m := s.mailbox()
	_, err := s.deliver(m, &sortings[(len(m.messages)+s.IntN(2))%len(sortings)])
	return err
}

// touch is a person's hand. One in a message that may be in work changes other labels than its sorting, so that it
// does not matter which comes first.
func (s *soak) touch() error {
	m := s.mailbox()
	h := hands[s.IntN(len(hands))]
	msg := s.choose(m, func(msg *message) bool {
		asleep := msg.sorting.action == postroom.Snooze
		return msg.settled && !asleep || !touches(h.change, msg.sorting.change)
	})
	if msg == nil {
		return nil
	}
	if err := m.lend(s.Context(), msg, h); err != nil && !msg.disturbed && msg.sorting.action != postroom.Delete {
		return fmt.Errorf("touch %s: %w", msg.subject, err)
	}
	return nil
}

// disturb takes a message away.
func (s *soak) disturb() error {
	m := s.mailbox()
	msg := s.choose(m, func(msg *message) bool { return !msg.settled || msg.sorting.action != postroom.Snooze })
	if msg == nil {
		return nil
	}
	msg.disturbed = msg.disturbed || !msg.settled
	var err error
	if i := s.IntN(len(rough) + 1); i < len(rough) {
		err = m.lend(s.Context(), msg, rough[i])
	} else {
		msg.gone = true
		err = m.account.Person().Delete(s.Context(), msg.id)
	}
	if err != nil && !msg.disturbed {
		return fmt.Errorf("disturb %s: %w", msg.subject, err)
	}
	return nil
}

// choose returns a message that is there and that may be chosen; nil if there is none.
func (s *soak) choose(m *mailbox, may func(*message) bool) *message {
	var list []*message
	for _, msg := range m.messages {
		if !msg.gone && may(msg) {
			list = append(list, msg)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[s.IntN(len(list))]
}

func (s *soak) poll() error {
	_, err := s.office.queue.Enqueue(s.Context(), gmail.NewHistorySyncJob(s.mailbox().id, 0))
	return err
}

// forget makes Gmail forget the history of a mailbox, in which more happens then.
func (s *soak) forget() error {
	m := s.mailbox()
	if err := m.account.ForgetHistory(s.Context()); err != nil {
		return err
	}
	_, err := s.deliver(m, &sortings[0])
	return err
}

// release lets go of notifications that were held.
func (s *soak) release() error {
	if len(s.held) > 0 {
		s.held[0].Open()
		s.held = s.held[1:]
	}
	return nil
}

// faults are those of an act: about one call in twenty fails, of those that send one in six.
func (s *soak) faults() (faults []gmailtest.Fault) {
	n := s.messages / acts
	for _, f := range []struct {
		method gmailtest.Method
		calls  int // about as many as there are in an act
		every  int
	}{
		{gmailtest.MessagesGet, 3 * n, 20},
		{gmailtest.MessagesModify, n, 20},
		{gmailtest.MessagesTrash, n / 8, 10},
		{gmailtest.MessagesDelete, n / 8, 10},
		{gmailtest.HistoryList, n, 20},
		{gmailtest.MessagesList, n, 20},
		{gmailtest.LabelsList, n / 4, 20},
		{gmailtest.GetProfile, n / 4, 20},
		{gmailtest.MessagesSend, n / 4, 6},
		{gmailtest.Watch, len(s.mailboxes), 6},
	} {
		for nth := range f.calls {
			if s.IntN(f.every) == 0 {
				fault := s.fault()
				fault.Method, fault.Nth = f.method, 1+nth
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// pushFaults lose every fourth notification, double one, and hold one.
func (s *soak) pushFaults() (faults []gmailtest.PushFault) {
	for nth := range 2 * s.messages / acts {
		switch s.IntN(12) {
		case 0, 1, 2:
			faults = append(faults, gmailtest.PushFault{Nth: 1 + nth, Lose: true})
		case 3, 4, 5:
			faults = append(faults, gmailtest.PushFault{Nth: 1 + nth, Copies: 1 + s.IntN(3)})
		case 6, 7, 8:
			gate := gmailtest.NewGate()
			s.held = append(s.held, gate)
			faults = append(faults, gmailtest.PushFault{Nth: 1 + nth, Gate: gate})
		}
	}
	return faults
}

// wake wakes what was put to sleep.
func (s *soak) wake() {
	require.NoError(s, s.office.queue.Resume(s.Context(), queue.ForType(gmail.JobUnsnooze)))
	s.settle()
	for _, m := range s.mailboxes {
		for _, msg := range m.messages {
			if msg.labels.Has(snoozed) {
				msg.labels = msg.labels.Apply(adds("INBOX", snoozed))
			}
		}
	}
}

// check compares everything with what it must be. From then on what is sorted is to be sorted no more.
func (s *soak) check() {
	s.Helper()
	sent, arrivals := s.received(), s.arrivals()
	for _, m := range s.mailboxes {
		s.checkMailbox(m, arrivals, sent)
	}
	for subject, n := range sent {
		require.Equal(s, 1, n, "%s was sent once", subject)
	}
	violations, err := queueadmin.Verify(s.Context(), s.office.queue)
	require.NoError(s, err)
	require.Empty(s, violations)
	// A sync that fails too often is followed by another. An action fails when its message is gone.
	failed, err := s.office.queue.Jobs(s.Context(),
		queue.Filter{States: []queue.State{queue.StateFailed, queue.StateCanceled}, Types: []string{
			string(gmail.JobIngest), string(rules.JobClassify), string(gmail.JobBackfill), string(gmail.JobReconcile),
			string(gmail.JobUnsnooze),
		}})
	require.NoError(s, err)
	for i := range failed {
		s.Errorf("%s %s is %s: %s", failed[i].Type, failed[i].Payload, failed[i].State, failed[i].LastError)
	}
	require.False(s, s.Failed())
}

func (s *soak) arrivals() map[string]int {
	var rows []struct {
		Account string `db:"account_id"`
		ID      string `db:"provider_id"`
	}
	require.NoError(s, s.office.db.Reader().Select(&rows, "SELECT account_id, provider_id FROM arrivals"))
	counts := make(map[string]int)
	for _, row := range rows {
		counts[row.Account+" "+row.ID]++
	}
	return counts
}

func (s *soak) checkMailbox(m *mailbox, arrivals, sent map[string]int) {
	s.Helper()
	atGmail := s.atGmail(m)
	stored, _ := s.stored(m)
	require.Equal(s, atGmail, stored, "the store is the mailbox of %s", m.account.Email())
	actions := s.actions(m)
	for _, msg := range m.messages {
		arrived, decided := arrivals[m.id+" "+msg.id], actions[msg.subject]
		if msg.disturbed {
			require.LessOrEqual(s, arrived, 1, "%s was ingested at most once", msg.subject)
			require.LessOrEqual(s, len(decided), 1, "%s was classified at most once", msg.subject)
			continue
		}
		require.Equal(s, 1, arrived, "%s was ingested once", msg.subject)
		require.Len(s, decided, 1, "%s was classified once", msg.subject)
		require.Equal(s, msg.sorting.action, decided[0].Type, msg.subject)
		require.Equal(s, postroom.ActionCompleted, decided[0].State, "%s: %s", msg.subject, decided[0].Error)
		s.settleMessage(msg, sent)
		if msg.gone {
			require.NotContains(s, atGmail, msg.id, "%s is gone", msg.subject)
		} else {
			require.Equal(s, msg.labels.LabelIDs, atGmail[msg.id], msg.subject)
		}
	}
}

// settleMessage applies what the message's sorting does, once.
func (s *soak) settleMessage(msg *message, sent map[string]int) {
	s.Helper()
	switch msg.sorting.action {
	case postroom.AutoReply:
		require.Equal(s, 1, sent["Re: "+msg.subject], "%s was answered", msg.subject)
	case postroom.Forward:
		require.Equal(s, 1, sent["Fwd: "+msg.subject], "%s was forwarded", msg.subject)
	}
	if !msg.settled {
		msg.settled, msg.gone = true, msg.sorting.action == postroom.Delete
		msg.labels = msg.labels.Apply(msg.sorting.change)
	}
}

// actions returns all actions of a mailbox by the subjects of the messages.
func (s *soak) actions(m *mailbox) map[string][]postroom.Action {
	s.Helper()
	all := make(map[string][]postroom.Action)
	for filter := (safety.Filter{AccountID: m.id, Limit: 100}); ; {
		entries, err := s.office.ledger.Actions(s.Context(), filter)
		require.NoError(s, err)
		for i := range entries {
			subject := entries[i].Decision.Subject
			all[subject] = append(all[subject], entries[i].Action)
			filter.Before = entries[i].Action.ID
		}
		if len(entries) < filter.Limit {
			return all
		}
	}
}
