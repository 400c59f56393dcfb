package drafting_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A life is what a person does with one thread, in any order, and what must hold of it.
type life struct {
	*world
	t       *rapid.T
	n       int64
	ann     worldtest.Inbox
	letters []string
	thread  string

	edits   int
	touched map[string]string // tokens of edits, by draft
	seen    map[string]bool   // drafts
	sent    int
	reworks int
}

func (l *life) subject() string { return fmt.Sprintf("Tea%dx", l.n) }

func (l *life) arrives() {
	raw := fmt.Sprintf("From: Zoë <ann@example.com>\r\nTo: You <you@example.com>\r\nSubject: %s\r\nMessage-ID: <q%d.%d@example.com>\r\n"+
		"References: <first%d@example.com>\r\n\r\nAt five?\r\n", l.subject(), l.n, len(l.letters), l.n)
	m, err := l.server.Deliver(l.t.Context(), []byte(raw))
	require.NoError(l.t, err)
	l.letters, l.thread = append(l.letters, m.ID), m.ThreadID
}

// some returns some of the letters: all, or one.
func (l *life) some() []string {
	if i := rapid.IntRange(0, len(l.letters)).Draw(l.t, "letters"); i < len(l.letters) {
		return l.letters[i : i+1]
	}
	return l.letters
}

// mine lists the drafts of the thread. Faults are for the calls of the program.
func (l *life) mine() []draftAt {
	l.server.ClearFaults()
	return l.draftsAt("subject:" + l.subject())
}

// withDraft does something with a draft of the thread, if there is one.
func (l *life) withDraft(do func(d draftAt)) {
	if list := l.mine(); len(list) > 0 {
		do(list[rapid.IntRange(0, len(list)-1).Draw(l.t, "draft")])
	}
}

func (l *life) touches(d draftAt) {
	l.edits++
	token := fmt.Sprintf("token%d", l.edits)
	l.touched[d.id] = token
	l.edit(d, func(text string) string { return token + "\n---\n" + strings.Replace(text, "this is", token, 1) })
}

// works runs jobs, and checks what they have done to the drafts.
func (l *life) works(run func()) {
	run()
	for _, d := range l.mine() {
		l.seen[d.id] = true
		token := l.touched[d.id]
		if token == "" || strings.Contains(d.Text, token) {
			continue
		}
		require.True(l.t, slices.ContainsFunc(l.requests(), func(r drafting.Request) bool {
			return strings.Contains(r.Instruction+r.Text, token)
		}), "a draft that was touched is overwritten, and nobody has read %s", token)
		delete(l.touched, d.id)
	}
	r, err := l.replies.Reply(l.t.Context(), l.account, l.thread)
	if err == nil {
		require.LessOrEqual(l.t, len(l.seen), int(r.Need), "one draft for each need")
	}
	history, err := l.replies.History(l.t.Context(), l.account, l.thread)
	require.NoError(l.t, err)
	reworks := 0
	for _, c := range history {
		if c.Event == replies.EventRework && c.To == replies.ReworkRequested {
			reworks++
		}
	}
	require.LessOrEqual(l.t, reworks, l.reworks, "a rework for each press at most")
	got, err := l.ann.Service.Users.Messages.List("me").Q("subject:" + l.subject()).Do()
	require.NoError(l.t, err)
	require.Len(l.t, got.Messages, l.sent, "only the person sends")
}

func (l *life) actions() map[string]func() {
	unlabel := func(name string) func() {
		return func() {
			for _, id := range l.letters {
				if slices.Contains(l.labels(id), name) {
					l.unlabel(name, id)
				}
			}
		}
	}
	return map[string]func(){
		"a letter":        l.arrives,
		"needs response":  func() { l.label(needsResponse, l.some()...) },
		"needs it again":  func() { l.label(needsResponse, l.some()...) },
		"rework":          func() { l.reworks++; l.label(rework, l.some()...) },
		"rework again":    func() { l.reworks++; l.label(rework, l.some()...) },
		"done":            func() { l.label(done, l.some()...) },
		"needs it not":    unlabel(needsResponse),
		"no rework":       unlabel(rework),
		"not done":        unlabel(done),
		"edits":           func() { l.withDraft(l.touches) },
		"edits meanwhile": func() { l.withDraft(l.editsMeanwhile) },
		"sends": func() {
			l.withDraft(func(d draftAt) { l.send(d); l.sent++ })
		},
		"deletes": func() {
			l.withDraft(func(d draftAt) { require.NoError(l.t, l.google.Users.Drafts.Delete("me", d.id).Do()) })
		},
		"a fault": func() {
			method := rapid.SampledFrom([]gmailtest.Method{gmailtest.DraftsCreate, gmailtest.DraftsUpdate, gmailtest.DraftsGet,
				gmailtest.MessagesModify}).Draw(l.t, "method")
			l.server.Fault(gmailtest.Fault{Method: method, Cut: gmailtest.CutAfter})
		},
		"a push":            func() { l.works(l.sync) },
		"another push":      func() { l.works(l.sync) },
		"a sync alone":      func() { l.works(l.learn) },
		"the jobs alone":    func() { l.works(func() { l.run() }) },
		"a check":           func() { l.works(func() { l.run(drafting.NewCheckJob(l.account)) }) },
		"an event is late":  l.replay,
		"an event is twice": l.replay,
	}
}

// editsMeanwhile has the person edit a draft while the writer writes the next text.
func (l *life) editsMeanwhile(d draftAt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write = func(r drafting.Request) (string, error) {
		l.mu.Lock()
		l.write = nil
		l.mu.Unlock()
		for _, now := range l.mine() {
			if now.id == d.id {
				l.touches(now)
			}
		}
		return "this is a text that was written meanwhile", nil
	}
}

func (l *life) replay() {
	l.mu.Lock()
	heard := slices.Clone(l.heard)
	l.mu.Unlock()
	if len(heard) > 0 {
		l.tx(heard[rapid.IntRange(0, len(heard)-1).Draw(l.t, "event")])
	}
}

// ends lets everything come to rest, and checks where it rests.
func (l *life) ends() {
	for range 2 {
		l.works(l.sync)
		l.works(func() { l.run(drafting.NewCheckJob(l.account)) })
	}
	r, err := l.replies.Reply(l.t.Context(), l.account, l.thread)
	if err != nil {
		require.ErrorIs(l.t, err, postroom.ErrNotFound)
		require.Empty(l.t, l.seen)
		return
	}
	require.NotContains(l.t, []replies.State{replies.Pending, replies.ReworkRequested}, r.State)
	if r.State == replies.Drafted {
		d, err := l.drafts.Draft(l.t.Context(), l.account, r.DraftKey())
		require.NoError(l.t, err)
		ready := slices.ContainsFunc(l.mine(), func(at draftAt) bool { return at.id == d.ID })
		require.True(l.t, ready, "the draft lies ready")
	}
	shown := false
	for _, id := range l.letters {
		shown = shown || slices.Contains(l.labels(id), outboxLabel)
	}
	require.Equal(l.t, r.State == replies.Drafted, shown, "the label says so")
}

// Whatever a person does, in whatever order it is learned of, and however often: there is one draft for each need, what
// a person wrote is not overwritten unread, and nothing is sent.
func TestAnyOrderOfAPersonsActions(t *testing.T) {
	few(t, 15)
	eachWorld(t, func(t *testing.T, w *world) {
		var lives atomic.Int64
		ann := worldtest.OpenInbox(t, w.server, "ann@example.com")
		rapid.Check(t, func(t *rapid.T) {
			l := &life{world: w, t: t, n: lives.Add(1), ann: ann, touched: map[string]string{}, seen: map[string]bool{}}
			w.t, w.asked, w.heard, w.write = t, nil, nil, nil
			w.server.ClearFaults()
			l.arrives()
			l.sync()
			actions := l.actions()
			names := slices.Sorted(maps.Keys(actions))
			for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 5, 25).Draw(t, "actions") {
				actions[name]()
			}
			l.ends()
		})
		w.t = t
	})
}

// few sets the number of checks, unless the command line does.
func few(t *testing.T, checks int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return
	}
	before := flag.Lookup("rapid.checks").Value.String()
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(checks)))
	t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", before)) })
}
