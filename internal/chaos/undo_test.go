package chaos

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/undo"
)

// TestWhatIsUndoneIsAsPeopleLeftIt: messages are sorted again and again, with people's hands in between, what was put
// to sleep wakes or does not, and then all is undone, in any order or at once, while workers are killed and calls
// fail. What is left is what people's changes alone would have made. One message has nothing to do with another here:
// many are in twenty worlds, each of a seed of its own.
func TestWhatIsUndoneIsAsPeopleLeftIt(t *testing.T) {
	const worlds = 20
	s := sizeOf(t, size{messages: 8 * worlds, kills: 5})
	s.messages, s.kills, s.mailboxes = max(8, s.messages/worlds), max(1, s.kills/5), 1
	eachSeed(t, s, seedsOf(t, worlds), func(t *testing.T, database string, s size) {
		u := &undoing{world: newWorld(t, database, s)}
		u.prepare()
		u.begin()
		for range 3 {
			u.actOnce()
			u.hands(u.mailboxes[0].messages)
		}
		u.undoAll()
		u.check()
	})
}

// An undoing is a world in which all is undone.
type undoing struct {
	*world
	ours    map[string]*postroom.Message // by Gmail's id
	actions []string
}

// begin delivers the messages, in different places and with different labels, and stores them.
func (u *undoing) begin() {
	m := u.mailboxes[0]
	for range u.messages {
		msg, err := u.deliver(m, &sortings[0])
		require.NoError(u, err)
		for range u.IntN(3) {
			require.NoError(u, m.lend(u.Context(), msg, anyHands[u.IntN(len(anyHands))]))
		}
	}
	u.enqueue(gmail.NewBackfillJob(m.id, "", ""))
	u.settle()
	u.ours = make(map[string]*postroom.Message)
	_, ids := u.stored(m)
	for own, id := range ids {
		msg, err := u.office.mail.Message(u.Context(), m.id, own)
		require.NoError(u, err)
		u.ours[id] = msg
	}
}

// anyHands are all that a person does to mail that is there.
var anyHands = append(append([]hand{}, hands...), rough...)

// undoable are the actions that can be undone, with their parameters.
var undoable = []sorting{
	{action: postroom.Archive},
	{action: postroom.MarkRead},
	{action: postroom.MarkUnread},
	{action: postroom.Star},
	{action: postroom.Unstar},
	{action: postroom.ApplyLabel, parameters: postroom.Parameters{"label": "Receipts"}},
	{action: postroom.RemoveLabel, parameters: postroom.Parameters{"label": "Receipts"}},
	{action: postroom.Move, parameters: postroom.Parameters{"label": "News"}},
	{action: postroom.Trash},
	{action: postroom.Restore},
	{action: postroom.Snooze, parameters: postroom.Parameters{"amount": 3, "units": "days"}},
}

// actOnce carries out one action of each message.
func (u *undoing) actOnce() {
	for _, msg := range u.mailboxes[0].messages {
		action := undoable[u.IntN(len(undoable))]
		parameters := postroom.Parameters{}
		maps.Copy(parameters, action.parameters)
		if label, ok := parameters.Text(postroom.ParamLabel); ok { // the ledger has ids
			id, found, err := u.office.mail.LabelID(u.Context(), u.mailboxes[0].id, label)
			require.NoError(u, err)
			require.True(u, found)
			parameters[postroom.ParamLabel] = id
		}
		require.NoError(u, u.office.db.Write(u.Context(), func(ctx context.Context, tx queue.Tx) error {
			a, err := u.office.ledger.Record(ctx, u.ours[msg.id], postroom.Decision{
				Action: action.action, Parameters: parameters, Confidence: 1, Rationale: "test",
				Source: postroom.SourceDeterministic,
				RuleID: "rule-1", Key: uuid.NewString(),
			})(ctx, tx)
			if err == nil && a.State == postroom.ActionPendingApproval {
				_, err = u.office.ledger.Approve(ctx, tx, a.ID, "ann")
			}
			u.actions = append(u.actions, a.ID)
			return err
		}))
	}
	awake := u.IntN(2) == 0
	if awake {
		u.wakeUps(u.office.queue.Resume)
	}
	u.killWhileFaultsLast(nothing)
	if awake {
		u.wakeAll()
	}
	u.settle()
	for _, id := range u.actions {
		a, err := u.office.ledger.Action(u.Context(), id)
		require.NoError(u, err)
		require.Equal(u, postroom.ActionCompleted, a.State, "%s: %s", a.Type, a.Error)
	}
}

// wakeUps resumes or pauses the jobs that wake messages, whose time has come.
func (u *undoing) wakeUps(set func(context.Context, queue.Target) error) {
	u.Helper()
	queuetest.PromoteScheduled(u, u.office.queue)
	require.NoError(u, set(u.Context(), queue.ForType(gmail.JobUnsnooze)))
}

// wakeAll wakes what sleeps, and what is put to sleep meanwhile, until nothing is left to do.
func (u *undoing) wakeAll() {
	u.Helper()
	u.server.ClearFaults()
	for idle := false; !idle; {
		u.wakeUps(u.office.queue.Resume)
		ctx, cancel := context.WithTimeout(u.Context(), time.Second)
		require.NoError(u, u.office.finish(ctx))
		idle = ctx.Err() == nil
		cancel()
	}
	u.wakeUps(u.office.queue.Pause)
}

// hands lets people change the messages. What a person finds done already, or does and takes back before anybody
// looks, is no change.
func (u *undoing) hands(messages []*message) {
	for _, msg := range messages {
		before := u.labels(msg)
		for range u.IntN(3) {
			h := anyHands[u.IntN(len(anyHands))]
			require.NoError(u, h.do(u.Context(), u.mailboxes[0].account.Person(), msg.id))
		}
		msg.labels = msg.labels.Apply(moved(u.labels(msg), before))
	}
}

func (u *undoing) labels(msg *message) postroom.Snapshot {
	m, err := u.mailboxes[0].account.Message(u.Context(), msg.id)
	require.NoError(u, err)
	return postroom.NewSnapshot(m.Labels)
}

// moved returns the change between two images. Who moves a message says where it is, and where it is not.
func moved(after, before postroom.Snapshot) postroom.LabelChange {
	change := after.ChangeFrom(before)
	if !touches(change, places) {
		return change
	}
	for _, l := range places.Remove {
		if after.Has(l) {
			change.Add = append(change.Add, l)
		} else {
			change.Remove = append(change.Remove, l)
		}
	}
	return change
}

// places are the labels of which a message has one, or none.
var places = removes("INBOX", "SPAM", "TRASH")

// undoAll undoes all actions, some one after the other and the others at once, with more hands in between.
func (u *undoing) undoAll() {
	u.Shuffle(len(u.actions), func(i, j int) { u.actions[i], u.actions[j] = u.actions[j], u.actions[i] })
	request := func(ids []string) {
		for _, id := range ids {
			_, err := u.office.undoer.Request(u.Context(), id)
			require.NoError(u, err)
		}
	}
	third := len(u.actions) / 3
	request(u.actions[:third])
	u.wakeUps(u.office.queue.Resume)
	u.killWhileFaultsLast(nothing)
	u.wakeAll()
	u.settle()
	u.hands(u.undone(u.actions[:third])) // the others are as people were seen to leave them
	rest := u.actions[third:]
	request(rest[:len(rest)/4])
	rest = rest[len(rest)/4:]
	u.killWhileFaultsLast(func() bool {
		if len(rest) == 0 {
			return false
		}
		_, err := u.office.undoer.Request(u.Context(), rest[0])
		rest = rest[1:]
		if err != nil {
			u.Error(err)
		}
		return len(rest) > 0
	})
	request(rest)
	u.settle()
}

// undone returns the messages of the actions.
func (u *undoing) undone(actions []string) (messages []*message) {
	ids := make(map[string]bool)
	for _, id := range actions {
		a, err := u.office.ledger.Action(u.Context(), id)
		require.NoError(u, err)
		ids[a.MessageID] = true
	}
	for _, msg := range u.mailboxes[0].messages {
		if ids[u.ours[msg.id].ID] {
			messages = append(messages, msg)
		}
	}
	return messages
}

func nothing() (more bool) { return false }

// killWhileFaultsLast lets workers work and kills them, while every eighth call fails.
func (u *undoing) killWhileFaultsLast(meanwhile func() bool) {
	u.Helper()
	for nth := range 12 * u.messages {
		if u.IntN(8) == 0 {
			fault := u.fault()
			fault.Nth = 1 + nth
			u.server.Fault(fault)
		}
	}
	for range u.kills {
		lines := 1 + u.IntN(1+12*u.messages/u.kills)
		require.NoError(u, workAndKill(orders{Place: u.place, Lease: 500 * time.Millisecond}, lines, meanwhile))
	}
}

func (u *undoing) check() {
	m := u.mailboxes[0]
	atGmail := u.atGmail(m)
	stored, _ := u.stored(m)
	require.Equal(u, atGmail, stored, "the store is the mailbox")
	for _, msg := range m.messages {
		require.Equal(u, msg.labels.LabelIDs, atGmail[msg.id], msg.subject)
	}
	for _, id := range u.actions {
		_, err := u.office.undoer.Report(u.Context(), id)
		require.NoError(u, err)
		_, err = u.office.undoer.Request(u.Context(), id)
		require.ErrorIs(u, err, undo.ErrAlreadyUndone)
	}
	counts, err := u.office.queue.Counts(u.Context(), queue.Filter{Types: []string{string(gmail.JobUnsnooze)},
		States: []queue.State{queue.StateQueued}})
	require.NoError(u, err)
	require.Zero(u, counts[queue.StateQueued], "nothing wakes what was not put to sleep")
}
