package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
)

// TestSentOnceWhereverTheWorkerIsKilled: a worker is killed just before or just after each call that sends something,
// so that Gmail has sent it or not, and nobody has heard. Everything arrives once.
func TestSentOnceWhereverTheWorkerIsKilled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, database string) {
		s := sizeOf(t, once)
		s.mailboxes = 1
		k := &killing{world: newWorld(t, database, s)}
		k.prepare()
		for _, when := range []string{"before", "after"} {
			k.killAt(when+" /messages/send", k.sorted(postroom.AutoReply))
			k.killAt(when+" /messages/send", k.sorted(postroom.Forward))
			k.killAt(when+" /drafts", k.letter())
			k.killAt(when+" /drafts/send", k.letter())
		}
		k.settle()
		sent := k.received()
		for _, subject := range k.subjects {
			require.Equal(t, 1, sent[subject], "%s was sent once", subject)
		}
		require.Len(t, sent, len(k.subjects), "nothing else was sent")
		require.Equal(t, k.atGmail(k.mailboxes[0]), first(k.stored(k.mailboxes[0])))
	})
}

func first[A, B any](a A, _ B) A { return a }

// A killing is a world in which who sends is killed.
type killing struct {
	*world
	subjects []string // of all that is sent
}

// sorted begins the way of a message that is answered or forwarded, and returns the type of the job that does so.
func (k *killing) sorted(action postroom.ActionType) (jobType string) {
	i := slices.IndexFunc(sortings, func(s sorting) bool { return s.action == action })
	m := k.mailboxes[0]
	msg, err := k.deliver(m, &sortings[i])
	require.NoError(k, err)
	prefix := map[postroom.ActionType]string{postroom.AutoReply: "Re: ", postroom.Forward: "Fwd: "}
	k.subjects = append(k.subjects, prefix[action]+msg.subject)
	k.enqueue(gmail.NewIngestJob(m.id, msg.id))
	return string(outbox.JobSend)
}

// letter begins the way of a draft that is made and sent.
func (k *killing) letter() (jobType string) {
	subject := fmt.Sprintf("letter %d", len(k.subjects))
	k.subjects = append(k.subjects, subject)
	k.enqueue(sendLetter.New(letter{AccountID: k.mailboxes[0].id, To: clerk, Subject: subject}, nil))
	return string(sendLetter)
}

// killAt kills a worker when it comes to the call, on its way to the end of the job. Its jobs are left to the end of
// the test.
func (k *killing) killAt(call, jobType string) {
	k.Helper()
	w, err := start(orders{Place: k.place, StopAt: call, Lease: time.Hour})
	require.NoError(k, err)
	for line := range w.lines {
		if strings.HasPrefix(line, stopped) {
			break
		}
		require.NotEqual(k, "ended "+jobType, line, "without the call %s", call)
	}
	require.NoError(k, w.kill())
}
