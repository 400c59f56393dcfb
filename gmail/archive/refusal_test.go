package archive_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// Gmail may fail at one message for ever. The others are archived, in the first run as well as in later ones.
func TestAMessageThatGmailRefusesHoldsUpNothing(t *testing.T) {
	for _, status := range []int{500, 400, 403} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			w := newWorld(t, dbtest.SQLite(t))
			ids := w.deliver(letter(0), letter(1), letter(2), letter(3), letter(4))
			refuse := func(id string) {
				w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: id, Times: -1, Status: status})
			}
			refuse(ids[1])
			refuse(ids[3])
			s := w.keep()
			require.True(t, s.Complete)
			require.Equal(t, []int{3, 2}, []int{s.Messages, s.Unreadable})

			refused := w.deliver(letter(5), letter(6), letter(7))[1]
			refuse(refused)
			s = w.keep()
			require.Equal(t, []int{5, 3}, []int{s.Messages, s.Unreadable})
			w.server.ClearFaults()
			s = w.keep()
			require.Equal(t, []int{8, 0}, []int{s.Messages, s.Unreadable})
		})
	}
}

// When Gmail fails at all messages, none is given up before it was tried as often.
func TestAnOutageIsNotTakenForMessagesThatGmailRefuses(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.deliver(letter(0), letter(1), letter(2))
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Times: 4, Status: 503})
	require.Equal(t, 3, w.keep().Messages)
	w.deliver(letter(3), letter(4), letter(5))
	before := w.server.Counts()[gmailtest.MessagesGet]
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Times: 9, Status: 503})
	s := w.keep()
	require.LessOrEqual(t, s.Unreadable, 2)
	require.GreaterOrEqual(t, w.server.Counts()[gmailtest.MessagesGet]-before, 10)
	require.Equal(t, 6, w.keep().Messages)
}
