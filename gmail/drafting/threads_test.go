package drafting_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A scene is one of testdata/threads: what happens to a conversation, step by step. A step is a line "== verb words",
// and the lines below are its text:
//
//	== mail                a message comes; the text is its bytes
//	== mail 25             it comes 25 times, with %d for the number
//	== triage              the model decides about the newest message, and says that it needs an answer
//	== model               the text of the model's next answer; scripted, as all that models say here
//	== model declines      its next answer is that the person writes
//	== press NAME          the person puts a label on the newest message; "release" takes it off
//	== edit                the person writes the text above that of the draft
//	== change FROM => TO   the person changes the draft
//	== copy ADDRESS        the person adds a recipient of a copy
//	== sends, deletes      the person does so with the draft
//	== answers ADDRESS     the person writes there, in the conversation, without the draft
//	== check               an hour passes
type scene struct {
	*world
	steps []step
	mail  []gmailtest.Message
}

type step struct{ verb, words, text string }

func readScene(t *testing.T, path string) (steps []step) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if head, is := strings.CutPrefix(line, "== "); is {
			verb, words, _ := strings.Cut(strings.TrimSpace(head), " ")
			steps = append(steps, step{verb: verb, words: words})
		} else if len(steps) > 0 { // above the first step is what the scene is about
			steps[len(steps)-1].text += line
		}
	}
	return steps
}

// model is the client that says what the scene has it say, in this order.
func (s *scene) model(t *testing.T) *llmtest.Scripted {
	var turns []llmtest.Turn
	for _, step := range s.steps {
		switch step.verb {
		case "triage":
			turns = append(turns, llmtest.Calls(decide.RecordDecision, `{"decision": {"action": "none", "parameters": {},
				"confidence": 0.9, "needs_approval": false, "rationale": "Because."}, "reply": "needs_response"}`))
		case "model":
			answer, err := json.Marshal(map[string]any{"text": step.text, "person_writes": step.words == "declines"})
			require.NoError(t, err)
			turns = append(turns, llmtest.Calls(compose.WriteAnswer, string(answer)))
		}
	}
	return llmtest.NewScripted(t, turns...)
}

func playScene(t *testing.T, path string) string {
	s := &scene{world: newWorld(t, dbSQLite(t)), steps: readScene(t, path)}
	client := s.model(t)
	composer, err := compose.New(compose.Config{Client: client, About: "I am Ada."})
	require.NoError(t, err)
	decider, err := decide.New(decide.Config{Client: client,
		AsksReply: func(context.Context, *postroom.Message) (bool, error) { return true, nil }})
	require.NoError(t, err)
	s.write = func(r drafting.Request) (string, error) {
		return composer.Write(t.Context(), compose.Request{AccountID: r.AccountID, Message: r.Message, Thread: r.Thread,
			Text: r.Text, Instruction: r.Instruction})
	}
	for _, step := range s.steps {
		s.play(t, step, decider)
	}
	return s.shows()
}

func (s *scene) play(t *testing.T, step step, decider *decide.Decider) {
	switch step.verb {
	case "mail":
		s.arrive(step)
	case "triage":
		s.triage(t, decider)
	case "model":
	case "press":
		s.label("Postroom/"+step.words, s.newest().ID)
	case "release":
		s.unlabel("Postroom/"+step.words, s.newest().ID)
	case "edit":
		s.edit(s.oneDraft(), func(text string) string { return step.text + text })
	case "change":
		from, to, _ := strings.Cut(step.words, " => ")
		s.edit(s.oneDraft(), func(text string) string { return strings.ReplaceAll(text, from, to) })
	case "copy":
		d := s.oneDraft()
		d.Cc = append(d.Cc, d.To[0])
		d.Cc[0].Email, d.Cc[0].Name = step.words, ""
		s.edit(d, strings.TrimSpace)
	case "sends":
		s.send(s.oneDraft())
	case "deletes":
		require.NoError(t, s.google.Users.Drafts.Delete("me", s.oneDraft().id).Do())
	case "answers":
		s.writes(s.newest(), step.words)
	case "check":
		s.run(drafting.NewCheckJob(""))
	default:
		t.Fatalf("there is no step %q", step.verb)
	}
	s.sync()
}

func (s *scene) newest() gmailtest.Message { return s.mail[len(s.mail)-1] }

func (s *scene) arrive(step step) {
	n := 1
	_, _ = fmt.Sscan(step.words, &n)
	for i := range n {
		raw := strings.ReplaceAll(strings.ReplaceAll(step.text, "%d", strconv.Itoa(i+1)), "\n", "\r\n")
		m, err := s.server.Deliver(s.t.Context(), []byte(raw))
		require.NoError(s.t, err)
		s.mail = append(s.mail, m)
	}
}

func (s *scene) triage(t *testing.T, decider *decide.Decider) {
	id, err := s.store.MessageID(t.Context(), s.account, s.newest().ID)
	require.NoError(t, err)
	msg, err := s.store.Message(t.Context(), s.account, id)
	require.NoError(t, err)
	d, err := decider.Decide(t.Context(), msg)
	require.NoError(t, err)
	if d.Reply == postroom.ReplyNeeded {
		s.tx(func(ctx context.Context, tx queue.Tx) error { return s.service.Needed(ctx, tx, msg) })
	}
}

// shows is what Gmail and the history show in the end.
func (s *scene) shows() string {
	var b strings.Builder
	if _, err := s.replies.Reply(s.t.Context(), s.account, s.newest().ThreadID); err != nil {
		b.WriteString("no reply\n")
	}
	history, err := s.replies.History(s.t.Context(), s.account, s.newest().ThreadID)
	require.NoError(s.t, err)
	for _, c := range history {
		if c.From != c.To {
			b.WriteString(strings.TrimSpace(fmt.Sprintf("%s: %s", c.To, c.Reason)) + "\n")
		}
	}
	for i, m := range s.mail {
		if labels := s.labels(m.ID); !slices.Equal(labels, []string{"INBOX"}) {
			fmt.Fprintf(&b, "message %d: %s\n", i+1, strings.Join(labels, ", "))
		}
	}
	for _, d := range s.draftsAt("") {
		b.WriteString("\ndraft\n")
		for _, a := range d.To {
			fmt.Fprintf(&b, "To: %s <%s>\n", a.Name, a.Email)
		}
		for _, a := range d.Cc {
			fmt.Fprintf(&b, "Cc: %s <%s>\n", a.Name, a.Email)
		}
		fmt.Fprintf(&b, "Subject: %s\nattachments: %d\n\n%s", d.Subject, len(d.Attachments), d.Text)
	}
	return b.String()
}

// The answers of the model are scripted: what is tested is what becomes of them.
func TestThreads(t *testing.T) {
	paths, err := filepath.Glob("testdata/threads/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 30)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			got, golden := playScene(t, path), strings.TrimSuffix(path, ".txt")+".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}
