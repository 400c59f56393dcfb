package drafting_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
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
	taken   map[string]bool   // drafts that the person has sent or deleted
	sent    int               // to Zoë
	passed  int               // on to somebody else
	reworks int
	pushes  []uint64 // positions of the history

	late *lateEdits // nil if nobody looks
}

func (l *life) subject() string { return fmt.Sprintf("Tea%dx", l.n) }

func (l *life) arrives() {
	raw := fmt.Sprintf("From: Zoë <ann@example.com>\r\nTo: You <you@example.com>\r\nSubject: %s\r\n"+
		"Message-ID: <q%d.%d@example.com>\r\nReferences: <first%d@example.com>\r\n\r\nAt five?\r\n", l.subject(), l.n, len(l.letters), l.n)
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

// byHand has the person send a message of the thread without a draft.
func (l *life) byHand(to string) {
	raw := fmt.Sprintf("From: you@example.com\r\nTo: %s\r\nSubject: Re: %s\r\n"+
		"References: <first%d@example.com> <q%[3]d.0@example.com>\r\n\r\nBy hand.\r\n", to, l.subject(), l.n)
	l.server.ClearFaults()
	_, err := l.client.Send(l.t.Context(), []byte(raw), l.thread)
	require.NoError(l.t, err)
}

// push has the mailbox synced from a position that Gmail has pushed, which may be late or doubled.
func (l *life) push() {
	profile, err := l.google.Users.GetProfile("me").Do()
	require.NoError(l.t, err)
	l.pushes = append(l.pushes, profile.HistoryId)
	at := l.pushes[rapid.IntRange(0, len(l.pushes)-1).Draw(l.t, "push")]
	l.run(gmail.NewHistorySyncJob(l.account, at))
}

// ages has weeks pass for the texts of the thread.
func (l *life) ages() {
	past := "strftime('%Y-%m-%dT%H:%M:%fZ', written_at, '-15 days')"
	if l.db.Dialect() == "postgres" {
		past = "written_at - interval '15 days'"
	}
	l.exec(fmt.Sprintf("UPDATE reply_texts SET written_at = %s WHERE thread_id = '%s'", past, l.thread))
}

func (l *life) touches(d draftAt) {
	l.edits++
	token := fmt.Sprintf("token%d", l.edits)
	l.touched[d.id] = token
	if l.late != nil {
		l.late.mu.Lock()
		defer l.late.mu.Unlock()
	}
	l.edit(d, func(text string) string { return token + "\n---\n" + strings.Replace(text, "this is", token, 1) })
}

// works runs jobs, and checks what they have done to the drafts.
func (l *life) works(run func()) {
	run()
	there := make(map[string]bool)
	for _, d := range l.mine() {
		l.seen[d.id], there[d.id] = true, true
		token := l.touched[d.id]
		if token == "" || strings.Contains(d.Text, token) {
			continue
		}
		require.True(l.t, l.wasRead(token), "a draft that was touched is overwritten, and nobody has read %s", token)
		delete(l.touched, d.id)
	}
	for id, token := range l.touched {
		late := l.late != nil && l.late.lost[id]
		require.True(l.t, there[id] || l.taken[id] || l.wasRead(token) || late, "a draft that was touched is deleted")
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
	kept, err := l.google.Users.Messages.List("me").Q("in:sent subject:" + l.subject()).Do()
	require.NoError(l.t, err)
	require.Len(l.t, kept.Messages, l.sent+l.passed, "what was sent stays")
}

// wasRead reports whether the writer was asked with what a person wrote.
func (l *life) wasRead(token string) bool {
	return slices.ContainsFunc(l.requests(), func(r drafting.Request) bool {
		return strings.Contains(r.Instruction+r.Text, token)
	})
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
		"waits":           func() { l.label(waiting, l.some()...) },
		"waits for ann":   func() { l.byHand("ann@example.com"); l.sent++; l.label(waiting, l.some()...); l.works(l.sync) },
		"waits no more":   unlabel(waiting),
		"days pass":       func() { l.works(l.timePasses) },
		"more days pass":  func() { l.works(l.timePasses) },
		"needs it not":    unlabel(needsResponse),
		"no rework":       unlabel(rework),
		"not done":        unlabel(done),
		"edits":           func() { l.withDraft(l.touches) },
		"edits meanwhile": func() { l.withDraft(l.editsMeanwhile) },
		"sends": func() {
			l.withDraft(func(d draftAt) { l.send(d); l.sent++; l.taken[d.id] = true })
		},
		"deletes": func() {
			l.withDraft(func(d draftAt) {
				require.NoError(l.t, l.google.Users.Drafts.Delete("me", d.id).Do())
				l.taken[d.id] = true
			})
		},
		"answers by hand": func() { l.byHand("ann@example.com"); l.sent++ },
		"passes it on":    func() { l.byHand("carl@example.com"); l.passed++ },
		"weeks pass":      l.ages,
		"history is lost": func() { require.NoError(l.t, l.server.ForgetHistory(l.t.Context())) },
		"a fault": func() {
			method := rapid.SampledFrom([]gmailtest.Method{gmailtest.DraftsCreate, gmailtest.DraftsUpdate, gmailtest.DraftsGet,
				gmailtest.MessagesModify, gmailtest.DraftsDelete}).Draw(l.t, "method")
			l.server.Fault(gmailtest.Fault{Method: method, Cut: gmailtest.CutAfter})
		},
		"a push":            func() { l.works(l.sync) },
		"another push":      func() { l.works(l.push) },
		"a late push":       func() { l.works(l.push) },
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
	all, err := l.google.Users.Threads.Get("me", l.thread).Format("minimal").Do()
	require.NoError(l.t, err)
	for _, m := range all.Messages {
		shown = shown || slices.Contains(l.labels(m.Id), outboxLabel)
	}
	require.Equal(l.t, r.State == replies.Drafted, shown, "the label says so")
	if r.State == replies.Sent {
		m, err := l.google.Users.Messages.Get("me", r.SentMessageID).Format("minimal").Do()
		require.NoError(l.t, err)
		require.Contains(l.t, m.LabelIds, "SENT")
	}
}

// Whatever a person does, in whatever order it is learned of, and however often: there is one draft for each need, what
// a person wrote is not overwritten unread nor deleted, nothing is sent, and what was sent stays. POSTROOM_TEST_LIVES
// is the number of orders for each database.
func TestAnyOrderOfAPersonsActions(t *testing.T) {
	dbtest.Checks(t, number(t, "POSTROOM_TEST_LIVES", 15))
	eachWorld(t, func(t *testing.T, w *world) {
		var lives atomic.Int64
		ann := worldtest.OpenInbox(t, w.server, "ann@example.com")
		w.reminds(1 << 30)
		late := &lateEdits{read: map[string]bool{}, lost: map[string]bool{}}
		late.watch(w)
		rapid.Check(t, func(t *rapid.T) {
			live(t, w, ann, lives.Add(1), late, func(string) bool { return true })
		})
		w.t = t
	})
}

// live lives one life, of actions that are allowed.
func live(t *rapid.T, w *world, ann worldtest.Inbox, n int64, late *lateEdits, allowed func(action string) bool) {
	l := &life{world: w, t: t, n: n, ann: ann, touched: map[string]string{}, seen: map[string]bool{},
		taken: map[string]bool{}, late: late}
	w.t, w.asked, w.heard, w.write = t, nil, nil, nil
	w.server.ClearFaults()
	l.arrives()
	l.sync()
	actions := l.actions()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(actions)), func(name string) bool { return !allowed(name) })
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 5, 25).Draw(t, "actions") {
		actions[name]()
	}
	l.ends()
}

// number returns the value of an environment variable, or a smaller one that is usual.
func number(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}
