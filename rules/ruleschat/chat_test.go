package ruleschat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const inUse = `# Mine.
rules:
  # About tea.
  - name: Tea
    condition: {type: subject_contains, value: tea}
    action: archive

tests:
  - name: tea is archived
    message: {subject: tea}
    actions: [archive]
`

const coffee = `rules: [{name: Coffee, condition: {type: subject_contains, value: coffee}, action: star}]`

func parsed(t *testing.T, text string) *rulesfile.File {
	t.Helper()
	f, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	return f
}

// proposing is a turn of a model that proposes rules.
func proposing(summary, yaml string, remove ...string) llmtest.Turn {
	names := ""
	if len(remove) > 0 {
		names = fmt.Sprintf(`, "remove": ["%s"]`, strings.Join(remove, `", "`))
	}
	return llmtest.Calls("propose_rules", fmt.Sprintf(`{"summary": %q, "rules": %q%s}`, summary, yaml, names))
}

// A table is where a person and a scripted model talk.
type table struct {
	t       *testing.T
	db      queue.DB
	model   *llmtest.Scripted
	chat    *ruleschat.Chat
	session string
}

func sitDown(t *testing.T, db queue.DB, turns ...llmtest.Turn) *table {
	t.Helper()
	require.NoError(t, ruleschat.Migrate(t.Context(), db))
	s := &table{t: t, db: db, model: llmtest.NewScripted(t, turns...)}
	var err error
	s.chat, err = ruleschat.New(ruleschat.Config{DB: db, Client: s.model})
	require.NoError(t, err)
	require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error {
		begun, err := s.chat.Begin(ctx, tx, "account", "ann")
		s.session = begun.ID
		return err
	}))
	return s
}

func (s *table) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return s.db.Write(s.t.Context(), fn)
}

func (s *table) say(text string, f *rulesfile.File) (*ruleschat.Reply, error) {
	return s.chat.Say(s.t.Context(), ruleschat.Turn{SessionID: s.session, Text: text, Rules: f})
}

// accept accepts the latest proposal.
func (s *table) accept(f *rulesfile.File) (after *rulesfile.File, err error) {
	number := 1
	said, _ := s.chat.Messages(s.t.Context(), s.session)
	for _, m := range said {
		if m.Proposal != nil {
			number = m.Number
		}
	}
	return s.acceptNumber(number, f)
}

func (s *table) acceptNumber(number int, f *rulesfile.File) (after *rulesfile.File, err error) {
	err = s.write(func(ctx context.Context, tx queue.Tx) error {
		after, err = s.chat.Accept(ctx, tx, ruleschat.Acceptance{SessionID: s.session, Number: number, By: "ann", Rules: f})
		return err
	})
	return after, err
}

func (s *table) said() []ruleschat.Message {
	said, err := s.chat.Messages(s.t.Context(), s.session)
	require.NoError(s.t, err)
	return said
}

func TestAConversation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, llmtest.Says("Which coffee?"), proposing("Coffee is starred.", coffee))
		f := parsed(t, inUse)
		reply, err := s.say("star coffee", f)
		require.NoError(t, err)
		require.Equal(t, "Which coffee?", reply.Text)
		require.Nil(t, reply.File)
		_, err = s.accept(f)
		require.ErrorIs(t, err, ruleschat.ErrNoProposal)

		reply, err = s.say("any", f)
		require.NoError(t, err)
		require.Equal(t, "Coffee is starred.", reply.Text)
		require.Len(t, reply.File.Rules, 2)
		require.Contains(t, reply.File.Source, "# About tea.")
		require.Equal(t, llmtest.Model, reply.Model)

		after, err := s.accept(f)
		require.NoError(t, err)
		require.Equal(t, reply.File.Source, after.Source)
		_, err = s.accept(f)
		require.ErrorIs(t, err, ruleschat.ErrNoProposal, "it is accepted once")

		said := s.said()
		require.Len(t, said, 4)
		for i, m := range said {
			require.Equal(t, i+1, m.Number)
			require.Equal(t, []llm.Role{llm.RoleUser, llm.RoleAssistant}[i%2], m.Role)
			require.False(t, m.At.IsZero())
		}
		require.Equal(t, "ann", said[3].Proposal.AcceptedBy)
		require.False(t, said[3].Proposal.AcceptedAt.IsZero())
		require.Equal(t, coffee, said[3].Proposal.Rules)
		sessions, err := s.chat.Sessions(t.Context(), "", 10)
		require.NoError(t, err)
		require.Equal(t, "ann", sessions[0].By)
		require.Equal(t, "account", sessions[0].AccountID)
		own, err := s.chat.Sessions(t.Context(), "account", 10)
		require.NoError(t, err)
		require.Equal(t, sessions, own)
		others, err := s.chat.Sessions(t.Context(), "other", 10)
		require.NoError(t, err)
		require.Empty(t, others)
	})
}

// The model is told the rules, the labels and what was said before, and no mail.
func TestWhatTheModelIsTold(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t), proposing("Coffee is starred.", coffee), llmtest.Says("Gone."))
	f := parsed(t, inUse)
	_, err := s.say("star coffee", f)
	require.NoError(t, err)
	_, err = s.chat.Say(t.Context(), ruleschat.Turn{
		SessionID: s.session, Text: "no, leave it", Rules: f,
		Labels: []postroom.Label{{Name: "Drinks", AvailableToClassifier: true}, {Name: "Hidden"}},
	})
	require.NoError(t, err)
	asked := s.model.Requests()[1]
	require.Equal(t, "rules_chat", asked.Purpose)
	require.Equal(t, "account", asked.AccountID)
	require.Len(t, asked.Messages, 4)
	system := asked.Messages[0].Text
	for _, told := range []string{"# About tea.", "Drinks", `"subject_contains"`, "dangerous_override"} {
		require.Contains(t, system, told)
	}
	require.NotContains(t, system, "Hidden")
	require.Equal(t, "star coffee", asked.Messages[1].Text)
	require.Contains(t, asked.Messages[2].Text, "It has not been accepted")
	require.Contains(t, asked.Messages[2].Text, coffee)
	require.Equal(t, "no, leave it", asked.Messages[3].Text)
}

// What a model proposes and cannot be used goes back to it with the fault, and is never shown as a proposal.
func TestFaultyProposalsAreCorrected(t *testing.T) {
	override := strings.Replace(coffee, "action: star", "action: delete, safe_mode: dangerous_override", 1)
	for name, c := range map[string]struct {
		turn llmtest.Turn
		says string
	}{
		"no YAML":                 {proposing("x", "rules: ["), "proposal:1"},
		"an unknown action":       {proposing("x", strings.Replace(coffee, "star", "explode", 1)), "explode"},
		"a dangerous override":    {proposing("x", override), "only a person may write"},
		"a rule that is not":      {proposing("x", "", "Milk"), `no rule "Milk"`},
		"a test that would fail":  {proposing("x", "", "Tea"), "tea is archived"},
		"nothing":                 {proposing("x", ""), "changes nothing"},
		"another tool":            {llmtest.Calls("delete_all", "{}"), "call propose_rules, once"},
		"arguments that are none": {llmtest.Calls("propose_rules", "["), "do not fit"},
		"an unknown argument":     {llmtest.Calls("propose_rules", `{"summary": "x", "shell": "rm"}`), "do not fit"},
		"two arguments":           {llmtest.Calls("propose_rules", `{"summary": "x", "remove": ["Tea"]}{"rules": "x"}`), "do not fit"},
		"what is there":           {proposing("x", strings.Split(inUse, "tests:")[0]), "changes nothing"},
		"tests":                   {proposing("x", coffee+"\ntests: [{name: n, message: {subject: coffee}, actions: [star]}]"), "leave tests out"},
		"a hidden name":           {proposing("x", strings.Replace(coffee, "Coffee", `"Cof\u202efee"`, 1)), "U+202E"},
		"a file":                  {proposing("x", strings.Replace(coffee, "value: coffee", "values_from: config.toml", 1)), "write the values out"},
		"a label that is not":     {proposing("x", strings.Replace(coffee, "action: star", "action: apply_label, parameters: {label: Drinks}", 1)), `label "Drinks"`},
		"an empty answer":         {llmtest.Says(" "), "empty"},
		"an answer that is cut":   {llmtest.Turn{Response: &llm.Response{Text: "Well", Stop: llm.StopLength}}, "cut"},
		"an answer without end":   {llmtest.Says(strings.Repeat("x", 200<<10)), "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sitDown(t, dbtest.SQLite(t), c.turn, proposing("Coffee is starred.", coffee))
			files := fstest.MapFS{"config.toml": {Data: []byte("hunter2")}}
			var err error
			s.chat, err = ruleschat.New(ruleschat.Config{DB: s.db, Client: s.model,
				Options: []rulesfile.ParseOption{rulesfile.WithFiles(files)}})
			require.NoError(t, err)
			reply, err := s.say("star coffee", parsed(t, inUse))
			require.NoError(t, err)
			require.Equal(t, "Coffee is starred.", reply.Text)
			require.NotNil(t, reply.File)
			require.NotContains(t, fmt.Sprint(s.model.Requests()), "hunter2")
			told := s.model.Requests()[1].Messages
			require.Contains(t, told[len(told)-1].Text, c.says)
			require.Len(t, s.said(), 2, "what was corrected is not kept")

			s = sitDown(t, dbtest.SQLite(t), c.turn, c.turn, c.turn)
			reply, err = s.say("star coffee", parsed(t, inUse))
			require.NoError(t, err)
			require.Nil(t, reply.File)
			require.Nil(t, reply.Proposal)
			require.Contains(t, reply.Text, c.says, "the person is told")
			_, err = s.accept(parsed(t, inUse))
			require.ErrorIs(t, err, ruleschat.ErrNoProposal)
		})
	}
}

// A test that fails already is not what the model is asked to mend.
func TestATestThatFailsAlreadyHindersNothing(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t), proposing("Coffee is starred.", coffee))
	reply, err := s.say("star coffee", parsed(t, strings.Replace(inUse, "[archive]", "[trash]", 1)))
	require.NoError(t, err)
	require.NotNil(t, reply.File)
}

func TestAProposalForOtherRulesIsRefused(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t), proposing("Coffee is starred.", coffee))
	f := parsed(t, inUse)
	_, err := s.say("star coffee", f)
	require.NoError(t, err)
	_, err = s.accept(parsed(t, inUse+"# by hand\n"))
	require.ErrorIs(t, err, ruleschat.ErrChanged)
	_, err = s.accept(f)
	require.NoError(t, err, "it can still be accepted for the rules that it was made for")
}

// What was altered in the database is checked as what the model says is.
func TestAnAlteredProposalIsRefused(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t), proposing("Coffee is starred.", coffee))
	f := parsed(t, inUse)
	_, err := s.say("star coffee", f)
	require.NoError(t, err)
	for proposal, says := range map[string]string{
		"{": "was altered",
		`{"rules":"rules: [{name: Coffee, condition: {type: subject_contains, value: coffee}, action: trash}]"}`:                                 "other than the one that was shown",
		`{"rules":"rules: [{name: Coffee, condition: {type: subject_contains, value: coffee}, action: delete, safe_mode: dangerous_override}]"}`: "only a person",
	} {
		require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE rules_chat_messages SET proposal = $1 WHERE number = 2", proposal)
			return err
		}))
		_, err = s.acceptNumber(2, f)
		require.ErrorContains(t, err, says)
	}
}

// A model that cannot be asked loses nothing that was said.
func TestWhatWasSaidStaysWhenTheModelFails(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t), llmtest.Fails(&llm.Error{Provider: "test", Reason: llm.ErrUnavailable}),
		llmtest.Says("Fine."))
	f := parsed(t, inUse)
	_, err := s.say("star coffee", f)
	require.ErrorIs(t, err, llm.ErrUnavailable)
	require.Len(t, s.said(), 1)
	_, err = s.say("please", f)
	require.NoError(t, err)
	asked := s.model.Requests()[1].Messages
	require.Len(t, asked, 2, "two turns of one speaker are one: providers want them to alternate")
	require.Equal(t, "star coffee\n\nplease", asked[1].Text)
}

func TestOfTwoWhoAcceptOneIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, proposing("Coffee is starred.", coffee))
		f := parsed(t, inUse)
		_, err := s.say("star coffee", f)
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { _, errs[i] = s.accept(f) })
		}
		wg.Wait()
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
				continue
			}
			require.ErrorIs(t, err, ruleschat.ErrNoProposal)
		}
		require.Equal(t, 1, accepted)
	})
}

// Messages that are stored side by side have their own numbers.
func TestTwoTalkInOneSession(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, llmtest.Says("one"), llmtest.Says("two"), llmtest.Says("three"), llmtest.Says("four"))
		f := parsed(t, inUse)
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() { _, errs[i] = s.say("star coffee", f) })
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		for i, m := range s.said() {
			require.Equal(t, i+1, m.Number)
		}
		require.Len(t, s.said(), 8)
	})
}

func TestWhatIsRefused(t *testing.T) {
	s := sitDown(t, dbtest.SQLite(t))
	f := parsed(t, inUse)
	_, err := s.say(" \n", f)
	require.ErrorIs(t, err, ruleschat.ErrInvalidText)
	_, err = s.say(strings.Repeat("ü", 4001), f)
	require.ErrorIs(t, err, ruleschat.ErrInvalidText)
	_, err = s.say("x", nil)
	require.ErrorContains(t, err, "ruleschat: Turn.Rules")
	_, err = s.accept(nil)
	require.ErrorContains(t, err, "ruleschat: Acceptance.Rules")
	_, err = s.chat.Say(t.Context(), ruleschat.Turn{SessionID: "none", Text: "x", Rules: f})
	require.ErrorIs(t, err, postroom.ErrNotFound)
	_, err = s.chat.Sessions(t.Context(), "", 0)
	require.ErrorContains(t, err, "within 1 and 1000")
	_, err = ruleschat.New(ruleschat.Config{})
	require.ErrorContains(t, err, "ruleschat: Config.DB")
	_, err = ruleschat.New(ruleschat.Config{DB: s.db, Client: (*llmtest.Scripted)(nil)})
	require.ErrorContains(t, err, "ruleschat: Config.Client")
	reader, err := ruleschat.New(ruleschat.Config{DB: s.db})
	require.NoError(t, err)
	_, err = reader.Say(t.Context(), ruleschat.Turn{SessionID: s.session, Text: "x", Rules: f})
	require.ErrorContains(t, err, "ruleschat: Config.Client is nil")
	require.ErrorContains(t, ruleschat.Migrate(t.Context(), nil), "ruleschat: Migrate: db")

	require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error { return s.chat.Delete(ctx, tx, s.session) }))
	err = s.write(func(ctx context.Context, tx queue.Tx) error { return s.chat.Delete(ctx, tx, s.session) })
	require.ErrorIs(t, err, postroom.ErrNotFound)
	_, err = s.accept(f)
	require.ErrorIs(t, err, postroom.ErrNotFound)
}

// Rules that are too long to be told whole are told by their names; what the model writes anew it replaces.
func TestALongFileIsToldInShort(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 2000 {
		b.WriteString("  - {name: Rule " + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + strings.Repeat("x", i/26) +
			", condition: {type: subject_contains, value: tea}, action: archive}\n")
	}
	s := sitDown(t, dbtest.SQLite(t), proposing("Coffee is starred.", coffee))
	f := parsed(t, b.String())
	reply, err := s.say("star coffee", f)
	require.NoError(t, err)
	require.Len(t, reply.File.Rules, 2001)
	system := s.model.Requests()[0].Messages[0].Text
	require.Less(t, len(system), 140<<10)
	require.Contains(t, system, "these are its 2000 rules")
	require.Contains(t, system, "others\n")
}

// A label may be there already, be made by the file, or by the proposal; an id is as good as a name.
func TestLabelsOfAProposal(t *testing.T) {
	for name, labels := range map[string]string{"there": "", "of the file": "", "of the proposal": "labels: [Drinks]\n"} {
		label := map[string]string{"there": "drinks", "of the file": "Milk", "of the proposal": "Drinks"}[name]
		rule := "rules: [{name: Coffee, condition: {type: subject_contains, value: coffee}, action: apply_label, parameters: {label: " + label + "}}]"
		s := sitDown(t, dbtest.SQLite(t), proposing("x", labels+rule))
		turn := ruleschat.Turn{SessionID: s.session, Text: "file coffee", Rules: parsed(t, "labels: [Milk]\n"+inUse)}
		if name == "there" {
			turn.Labels = []postroom.Label{{ID: "Label_1", Name: "Drinks", AvailableToClassifier: true}}
		}
		reply, err := s.chat.Say(t.Context(), turn)
		require.NoError(t, err)
		require.NotNil(t, reply.File, name+": "+reply.Text)
	}
}

// Who accepts has seen what they accept: not what came after it.
func TestALaterProposalIsNotAcceptedUnseen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		milk := strings.ReplaceAll(strings.ReplaceAll(coffee, "Coffee", "Milk"), "coffee", "milk")
		s := sitDown(t, db, proposing("Coffee is starred.", coffee), proposing("Milk is starred.", milk))
		f := parsed(t, inUse)
		seen, err := s.say("star coffee", f)
		require.NoError(t, err)
		later, err := s.say("no, milk", f)
		require.NoError(t, err)
		for _, number := range []int{seen.Number, 0, 1, 3, 5} {
			_, err = s.acceptNumber(number, f)
			require.ErrorIs(t, err, ruleschat.ErrNoProposal, number)
		}
		require.ErrorContains(t, func() error { _, err := s.acceptNumber(seen.Number, f); return err }(), "message 4")
		_, err = s.acceptNumber(later.Number, f)
		require.NoError(t, err)
	})
}

// A host writes the file and is killed before its transaction commits: the same acceptance goes on from there.
func TestAnAcceptanceThatWasCutOffGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, proposing("Coffee is starred.", coffee))
		_, err := s.say("star coffee", parsed(t, inUse))
		require.NoError(t, err)
		killed := errors.New("killed")
		var written *rulesfile.File
		err = s.write(func(ctx context.Context, tx queue.Tx) error {
			written, err = s.chat.Accept(ctx, tx, ruleschat.Acceptance{SessionID: s.session, Number: 2, By: "ann",
				Rules: parsed(t, inUse)})
			require.NoError(t, err)
			return killed
		})
		require.ErrorIs(t, err, killed)
		after, err := s.accept(parsed(t, written.Source))
		require.NoError(t, err)
		require.Equal(t, written.Source, after.Source)
		require.Equal(t, "ann", s.said()[1].Proposal.AcceptedBy)
	})
}

func TestOldSessionsArePruned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, llmtest.Says("one"))
		_, err := s.say("star coffee", parsed(t, inUse))
		require.NoError(t, err)
		n, err := s.chat.Prune(t.Context(), time.Now().Add(-time.Hour))
		require.NoError(t, err)
		require.Zero(t, n)
		require.Len(t, s.said(), 2)
		n, err = s.chat.Prune(t.Context(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Empty(t, s.said())
		_, err = s.chat.Session(t.Context(), s.session)
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}
