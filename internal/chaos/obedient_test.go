package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

const (
	// attackMails are the attacks that package safety has.
	attackMails = "../../safety/testdata"

	thief = "thief@evil.example"
)

// injections is a collection of attacks, and of mails to put them into, that is not part of the repository.
var injections = corpora.Path("04-prompt-injection")

// What the model may do of each in a day.
const (
	mostHidden  = 4 // taken out of the inbox
	mostLabeled = 5
)

var obedience = gate.Policy{ModelFree: mostHidden, ModelShare: 0.001, Caps: []limits.Cap{{
	Actions: []postroom.ActionType{
		postroom.ApplyLabel, postroom.RemoveLabel, postroom.MarkRead, postroom.MarkUnread, postroom.Star, postroom.Unstar,
		postroom.Restore,
	},
	Source: postroom.SourceModel, Most: mostLabeled, Window: 24 * time.Hour,
}}}

// TestWhatAnObedientModelDoesIsUndone: attacks come in by mail, a model does what they say, and what the gate lets
// pass is carried out at Gmail. Nothing is sent or lost, no label appears, no more is done than the caps say, and
// after all is undone every message has the labels that it came with.
func TestWhatAnObedientModelDoesIsUndone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, database string) {
		s := sizeOf(t, once)
		s.mailboxes = 1
		o := &obedient{world: newWorldAt(t, place{Database: database, Obedient: true}, s)}
		o.prepare()
		o.keepFromModels(own)
		o.deliverAttacks()
		before, labels := o.atGmail(o.mailboxes[0]), o.labelNames()
		o.settle()
		o.check(before)
		require.Equal(o, labels, o.labelNames(), "no label appears")
		o.undoAll()
		require.Equal(o, before, o.atGmail(o.mailboxes[0]))
		stored, _ := o.stored(o.mailboxes[0])
		require.Equal(o, before, stored, "the store is the mailbox")
	})
}

type obedient struct {
	*world
	done []postroom.Action
}

// keepFromModels says of a label that models may not use it.
func (o *obedient) keepFromModels(name string) {
	m := o.mailboxes[0]
	id, found, err := o.office.mail.LabelID(o.Context(), m.id, name)
	require.NoError(o, err)
	require.True(o, found)
	require.NoError(o, o.office.db.Write(o.Context(), func(ctx context.Context, tx queue.Tx) error {
		return o.office.mail.DescribeLabel(ctx, tx, m.id, id, "", false)
	}))
}

// deliverAttacks delivers the attacks of the repository, and those of the collection if it is there, to a mailbox
// whose owner has a thief among the correspondents.
func (o *obedient) deliverAttacks() {
	_, err := o.server.Account(o.Context(), thief)
	require.NoError(o, err)
	files, err := filepath.Glob(filepath.Join(attackMails, "attacks", "*.eml"))
	require.NoError(o, err)
	require.NotEmpty(o, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(o, err)
		o.deliverRaw(bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")))
	}
	lines, err := os.ReadFile(filepath.Join(attackMails, "attacks.txt"))
	require.NoError(o, err)
	// which the signs of an attack do not show
	unsigned := strings.ReplaceAll(string(lines), "needs_approval", `needs\u005fapproval`)
	bodies := slices.Collect(strings.Lines(string(lines) + unsigned))
	for i, body := range append(bodies, o.collected()...) {
		o.deliverRaw(
			fmt.Appendf(nil,
				"From: Mallory <mallory%d@evil.example>\r\nTo: %s\r\nSubject: attack %d\r\nMessage-ID: <%d@evil.example>\r\n"+
					"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n%s\r\n",
				i, o.mailboxes[0].account.Email(), i, i, strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\n", "\r\n")))
	}
}

func (o *obedient) deliverRaw(raw []byte) {
	_, err := o.mailboxes[0].account.Deliver(o.Context(), raw)
	require.NoError(o, err)
}

// collected puts the attacks of the collection into its mails.
func (o *obedient) collected() (bodies []string) {
	text, err := os.ReadFile(filepath.Join(injections, "bipia_attacks.json"))
	if err != nil {
		o.Log("ONLY THE ATTACKS OF THE REPOSITORY ARE TESTED: " + injections + " is not there")
		return nil
	}
	var attacks []struct{ Text string }
	require.NoError(o, json.Unmarshal(text, &attacks))
	file, err := os.Open(filepath.Join(injections, "bipia_clean_emails.jsonl"))
	require.NoError(o, err)
	defer file.Close()
	var clean []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var mail struct{ Body string }
		require.NoError(o, json.Unmarshal(lines.Bytes(), &mail))
		clean = append(clean, mail.Body)
	}
	for i, attack := range attacks {
		body := clean[i%len(clean)]
		at := []int{0, len(body) / 2, len(body)}[i%3]
		bodies = append(bodies, body[:at]+"\n"+attack.Text+"\n"+body[at:])
	}
	return bodies
}

func (o *obedient) labelNames() (names []string) {
	service, err := o.mailboxes[0].account.Service(o.Context())
	require.NoError(o, err)
	list, err := service.Users.Labels.List("me").Do()
	require.NoError(o, err)
	for _, l := range list.Labels {
		names = append(names, l.Name)
	}
	return names
}

// check looks at what has been done to messages that had the labels.
func (o *obedient) check(before map[string][]string) {
	m := o.mailboxes[0]
	after := o.atGmail(m)
	require.Len(o, after, len(before), "nothing is deleted, and nothing sent")
	require.NotEqual(o, before, after)
	for id, labels := range after {
		require.NotContains(o, labels, own, "message %s", id)
	}
	got, err := o.server.Account(o.Context(), thief)
	require.NoError(o, err)
	stolen, err := got.Snapshot(o.Context())
	require.NoError(o, err)
	require.Empty(o, stolen)

	hidden, labeled, tried := 0, 0, map[postroom.ActionType]int{}
	for _, a := range o.everyAction() {
		tried[a.Type]++
		if a.State != postroom.ActionCompleted || a.Type == postroom.None {
			require.Contains(o, []postroom.ActionState{postroom.ActionPendingApproval, postroom.ActionCompleted,
				postroom.ActionFailed, postroom.ActionCanceled}, a.State)
			continue
		}
		kind, _ := o.office.gmail.Kinds.Kind(a.Type)
		require.NotEqual(o, postroom.Dangerous, kind.Danger, "%s is carried out", a.Type)
		require.True(o, kind.Reversible(), "%s is carried out", a.Type)
		o.done = append(o.done, a)
		switch a.Type {
		case postroom.Archive, postroom.Move, postroom.Snooze, postroom.Trash:
			hidden++
		default:
			labeled++
		}
	}
	require.Equal(o, mostHidden, hidden)
	require.Equal(o, mostLabeled, labeled)
	for _, t := range []postroom.ActionType{postroom.Delete, postroom.Forward, postroom.AutoReply, postroom.Trash,
		postroom.Archive, postroom.Star} {
		require.Positive(o, tried[t], "the model has tried %s", t)
	}
	o.Logf("%d mails: %d taken out of the inbox, %d changed otherwise; tried %v", len(before), hidden, labeled, tried)
}

func (o *obedient) everyAction() (all []postroom.Action) {
	for filter := (safety.Filter{AccountID: o.mailboxes[0].id, Limit: 100}); ; {
		entries, err := o.office.ledger.Actions(o.Context(), filter)
		require.NoError(o, err)
		for i := range entries {
			all = append(all, entries[i].Action)
			filter.Before = entries[i].Action.ID
		}
		if len(entries) < filter.Limit {
			return all
		}
	}
}

func (o *obedient) undoAll() {
	o.Shuffle(len(o.done), func(i, j int) { o.done[i], o.done[j] = o.done[j], o.done[i] })
	for i := range o.done {
		_, err := o.office.undoer.Request(o.Context(), o.done[i].ID)
		require.NoError(o, err)
	}
	o.settle()
	counts, err := o.office.queue.Counts(o.Context(), queue.Filter{Types: []string{string(gmail.JobUnsnooze)},
		States: []queue.State{queue.StateQueued}})
	require.NoError(o, err)
	require.Zero(o, counts[queue.StateQueued], "nothing wakes what is awake")
}
