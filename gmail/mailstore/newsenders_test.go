package mailstore

import (
	"crypto/rand"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestNewSendersAreThoseOfWhomThereWasNoMailBefore(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		from := func(email, subject string, at time.Time, labels ...string) {
			m := fullMessage(accountID)
			m.ProviderID, m.From, m.Subject, m.ReceivedAt = rand.Text(), postroom.Address{Email: email}, subject, at
			m.LabelIDs = labels
			save(t, s, m)
		}
		from("old@example.org", "before", day.Add(-time.Hour))
		from("OLD@example.org", "again", day)
		from("new@example.org", "first", day)
		from("New@example.org", "second", day.Add(time.Minute))
		from("Zoë@exämple.org", "international", day.Add(2*time.Minute), "INBOX")
		from("me@example.com", "mine", day, "SENT")
		from("spammer@example.org", "spam", day, "SPAM")
		from("digest@"+InsertedDomain, "digest", day, "INBOX")

		in := Arrived{Until: time.Now().Add(time.Second), Received: day}
		list, err := s.NewSenders(t.Context(), accountID, in)
		require.NoError(t, err)
		require.Equal(t, []NewSender{{Email: "Zoë@exämple.org", Subject: "international"},
			{Email: "new@example.org", Subject: "first"}}, list)
		n, err := s.CountArrived(t.Context(), accountID, in)
		require.NoError(t, err)
		require.Equal(t, 7, n)
	})
}

// What Gmail received in the night has arrived when it is stored in the morning, however late, and only then.
func TestMailHasArrivedWhenItIsStored(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		from := func(email, subject string, at time.Time) {
			m := fullMessage(accountID)
			m.ProviderID, m.From, m.Subject, m.ReceivedAt = rand.Text(), postroom.Address{Email: email}, subject, at
			save(t, s, m)
		}
		arrived := func(in Arrived) (subjects []string) { // of first messages, and how many there are of all
			list, err := s.NewSenders(t.Context(), accountID, in)
			require.NoError(t, err)
			for _, sender := range list {
				subjects = append(subjects, sender.Subject)
			}
			n, err := s.CountArrived(t.Context(), accountID, in)
			require.NoError(t, err)
			subjects = append(subjects, strconv.Itoa(n))
			return subjects
		}
		from("ann@example.org", "of the evening", day)
		morning := time.UnixMilli(time.Now().UnixMilli() + 1) // ids are of whole milliseconds
		require.Eventually(t, func() bool { return time.Now().After(morning) }, time.Minute, time.Millisecond)
		later := morning.Add(time.Hour)
		from("bob@example.org", "of the night", day.Add(time.Hour))
		from("bob@example.org", "of the night as well", day.Add(2*time.Hour))
		from("ann@example.org", "delayed", day.Add(-time.Hour))
		require.Equal(t, []string{"of the evening", "1"}, arrived(Arrived{Until: morning}))
		require.Equal(t, []string{"of the night", "3"}, arrived(Arrived{From: morning, Until: later}))
		require.Equal(t, []string{"0"}, arrived(Arrived{From: morning, Until: later, Received: day.Add(3 * time.Hour)}))
		require.Equal(t, []string{"0"}, arrived(Arrived{From: later, Until: later.Add(time.Hour)}))
	})
}
