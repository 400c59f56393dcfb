package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/events"
)

// moveOrders puts letters of a shop into the mailbox, one of each of the last days, and has the person move them.
func (w *world) moveOrders(n int) {
	w.Helper()
	account, err := w.gmail.Account(w.Context(), sample.Owner)
	require.NoError(w, err)
	service, err := account.Service(w.Context())
	require.NoError(w, err)
	require.NoError(w, account.CreateLabels(w.Context(), "Orders"))
	var ids []string
	for i := range n {
		at := time.Now().AddDate(0, 0, -i-1)
		raw := "Received: from mail.shop.example by mx.google.com with ESMTPS id x; " + at.Format(time.RFC1123Z) + "\r\n" +
			"Authentication-Results: mx.google.com; dmarc=pass header.from=shop.example\r\nFrom: orders@shop.example\r\n" +
			"To: " + sample.Owner + "\r\nSubject: " + fmt.Sprintf("Order %d", i) + "\r\nDate: " + at.Format(time.RFC1123Z) +
			"\r\n\r\nThank you.\r\n"
		m, err := service.Users.Messages.Insert("me", &gmail.Message{LabelIds: []string{"INBOX", "UNREAD"},
			Raw: base64.URLEncoding.EncodeToString([]byte(raw))}).InternalDateSource("dateHeader").Do()
		require.NoError(w, err)
		ids = append(ids, m.Id)
	}
	w.work()
	require.NoError(w, account.Person().MoveTo(w.Context(), "Orders", ids...))
	w.work()
}

// What a person moves by hand becomes a rule by one answer, and goes by another.
func TestALearnedRule(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) { c.Learn.Enabled = true })
	w.moveOrders(8)
	require.Empty(w, call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Rules)
	report := call[map[string]int](w, "POST", "/learn/run", "{}", http.StatusOK)
	require.Equal(w, 1, report["proposed"], report)
	listed := call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Rules
	require.Len(w, listed, 1)
	r := listed[0]
	require.Equal(w, "Learned: from orders@shop.example: move Orders", r.Name)
	require.Equal(w, []int{8, 0, 8}, []int{r.Agreeing, r.Contradicting, r.Matched})
	require.Len(w, r.Taught, 8)
	require.Equal(w, "Order 0", r.Taught[0].Subject)

	w.as = w.add("reads", tokens.See, sample.Owner)
	answer := func(what string) string { return fmt.Sprintf(`{"id": %q, "answer": %q}`, r.ID, what) }
	call[problem](w, "POST", "/learn/answer", answer("accept"), http.StatusForbidden)
	w.as = token
	call[problem](w, "POST", "/learn/answer", answer("perhaps"), http.StatusUnprocessableEntity)
	call[problem](w, "POST", "/learn/answer", answer("remove"), http.StatusConflict)
	accepted := call[learning.Rule](w, "POST", "/learn/answer", answer("accept"), http.StatusOK)
	require.Equal(w, lessons.Accepted, accepted.State)
	call[problem](w, "POST", "/learn/answer", answer("accept"), http.StatusConflict)
	require.Equal(w, []string{r.Name}, w.ruleNames())
	_, err := w.gmail.Deliver(t.Context(), []byte("Received: from mail.shop.example by mx.google.com with ESMTPS id x; "+
		time.Now().Format(time.RFC1123Z)+"\r\nAuthentication-Results: mx.google.com; dmarc=pass header.from=shop.example\r\n"+
		"From: orders@shop.example\r\nTo: "+sample.Owner+"\r\nSubject: Order 99\r\n\r\nThank you.\r\n"))
	require.NoError(w, err)
	w.work()
	require.Equal(w, 0, call[map[string]int](w, "POST", "/learn/run", "{}", http.StatusOK)["proposed"])
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(w, err)
	done, err := w.app.Ledger.Actions(t.Context(), safety.Filter{AccountID: account.ID, Rule: r.Name})
	require.NoError(w, err)
	require.Len(w, done, 1, "the new letter, and no old one")
	require.Equal(w, postroom.Move, done[0].Action.Type)
	require.Equal(w, postroom.ActionCompleted, done[0].Action.State, done[0].Action.Error)

	removed := call[learning.Rule](w, "POST", "/learn/answer", answer("remove"), http.StatusOK)
	require.Equal(w, lessons.Dismissed, removed.State)
	require.Empty(w, w.ruleNames())
	require.Empty(w, call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Rules)
}

// A model is shown what the person made of earlier mail of the sender, and of nobody else's, where that is configured.
func TestAModelIsShownCorrections(t *testing.T) {
	onBothWith(t, func(c *config.Config) { c.Learn.Enabled = true }, func(t *testing.T, w *world) {
		w.moveOrders(2)
		account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
		require.NoError(t, err)
		w.app.Env.Config.LLM.Model = config.Model{Provider: config.OpenAI, Model: "small", APIKey: "none"}
		earlier := func() (shop, others int) {
			decider, err := w.app.Models.NewDecider()
			require.NoError(t, err)
			for m, err := range w.app.Mail.AllMessages(t.Context(), account.ID, mailstore.MessageRange{}) {
				require.NoError(t, err)
				prompt, err := decider.Prompt(t.Context(), m)
				require.NoError(t, err)
				for _, l := range prompt.Layers {
					switch {
					case l.Name != "EARLIER MAIL":
					case m.From.Email == "orders@shop.example":
						shop++
						require.Regexp(t, `1\. decided: none; the person then did by hand: move \(label Orders\); subject: Order [01]`, l.Text)
					default:
						others++
					}
				}
			}
			return shop, others
		}
		shop, others := earlier()
		require.Zero(t, shop+others, "nothing before it is asked for")
		w.app.Env.Config.Learn.Examples = true
		shop, others = earlier()
		require.Equal(t, []int{2, 0}, []int{shop, others})
	})
}

// A rule that the person corrects warns and then asks, in all places, until the person says that it is right again.
func TestACorrectedRuleAsks(t *testing.T) {
	onBothWith(t, func(c *config.Config) { c.Learn.Enabled = true }, testACorrectedRuleAsks)
}

func testACorrectedRuleAsks(t *testing.T, w *world) {
	call[any](w, "POST", "/rules", `{"name": "Shop", "action": "archive", "condition": {"type": "sender_email", `+
		`"value": "orders@shop.example"}}`, http.StatusOK)
	gmailAccount, err := w.gmail.Account(t.Context(), sample.Owner)
	require.NoError(t, err)
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	for i := range 3 {
		w.deliver(fmt.Sprintf("Order %d", i))
		done, err := w.app.Ledger.Actions(t.Context(), safety.Filter{AccountID: account.ID, Rule: "Shop", Limit: 1})
		require.NoError(t, err)
		require.NoError(t, gmailAccount.Person().MoveToInbox(t.Context(), done[0].Action.ProviderMessageID))
		w.work()
	}
	drifts := call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Drifts
	require.Len(t, drifts, 1)
	require.Equal(t, lessons.DriftAsks, drifts[0].State)
	const what = `You are asked about what the rule "Shop" decides.`
	today, err := view.NewToday(t.Context(), w.app, account.ID, view.Windows[0], time.Now())
	require.NoError(t, err)
	require.Equal(t, what, today.Troubles[0].What)
	require.Equal(t, &view.Mend{Do: "right-again", ID: account.ID, Rule: drifts[0].RuleID, Text: "It is right"},
		today.Troubles[0].Mend)
	status, err := view.NewStatus(t.Context(), w.app)
	require.NoError(t, err)
	var printed strings.Builder
	require.NoError(t, status.Print(&printed))
	require.Contains(t, printed.String(), what+" of the last 3 messages on which it has acted, you have corrected some in 3 conversations; "+
		"'postroomd learn right "+drifts[0].RuleID)

	w.as = w.add("reads", tokens.See, sample.Owner)
	call[problem](w, "POST", "/learn/right", `{"rule": "Shop"}`, http.StatusForbidden)
	w.as = token
	call[problem](w, "POST", "/learn/right", `{"rule": "models"}`, http.StatusUnprocessableEntity)
	call[learning.Drift](w, "POST", "/learn/right", `{"rule": "Shop"}`, http.StatusOK)
	require.Empty(t, call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Drifts)
	list, err := w.app.Ledger.Events().List(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, events.DriftEnded, list[0].Kind)
}

// deliver has a letter of a shop arrive and worked on, and returns its id.
func (w *world) deliver(subject string) string {
	w.Helper()
	m, err := w.gmail.Deliver(w.Context(), []byte("From: orders@shop.example\r\nTo: "+sample.Owner+"\r\nSubject: "+subject+
		"\r\n\r\nThank you.\r\n"))
	require.NoError(w, err)
	w.work()
	return m.ID
}

// onBothWith makes a world on each engine.
func onBothWith(t *testing.T, change func(c *config.Config), fn func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { fn(t, newWorldWith(t, "", change)) })
	t.Run("postgres", func(t *testing.T) { fn(t, newWorldWith(t, dbtest.MigratedDSN(t), change)) })
}

// What a person says from one message is proposed as a rule, which waits; in Gmail by a label.
func TestTeach(t *testing.T) {
	onBothWith(t, func(c *config.Config) { c.Learn.TeachLabel = "Postroom/Teach" }, testTeach)
}

func testTeach(t *testing.T, w *world) {
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	gmailAccount, err := w.gmail.Account(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NoError(t, gmailAccount.CreateLabels(t.Context(), "Orders"))
	message := w.deliver("Order 1")
	proposed := func() (about []string) {
		sessions, err := view.NewChatSessions(t.Context(), w.app, account.ID, 100)
		require.NoError(t, err)
		for _, s := range sessions {
			about = append(about, s.By)
		}
		return about
	}

	teach := func(body string, status int) learning.Taught {
		return call[learning.Taught](w, "POST", "/learn/teach", fmt.Sprintf(`{"message": %q, %s}`, message, body), status)
	}
	for _, body := range []string{`"lesson": "perhaps"`, `"lesson": "always"`, `"lesson": "always", "label": "Orders"`,
		`"lesson": "never", "action": "archive"`, `"lesson": "always", "action": "delete"`,
		`"lesson": "always", "action": "move"`} {
		teach(body, http.StatusUnprocessableEntity)
	}
	require.Empty(t, proposed())
	never := teach(`"lesson": "never"`, http.StatusOK)
	require.Equal(t, "Leave alone mail of orders@shop.example", never.Rule)
	always := teach(`"lesson": "always", "action": "move", "label": "Orders"`, http.StatusOK)
	require.Equal(t, "Move mail of orders@shop.example", always.Rule)
	require.Positive(t, always.Tried)
	require.Equal(t, 1, always.Differs)
	require.Equal(t, []string{"api", "api"}, proposed())
	require.Empty(t, w.ruleNames(), "none is in force")
	w.as = w.add("reads", tokens.See, sample.Owner)
	teach(`"lesson": "never"`, http.StatusForbidden)

	// A label of one's own and the label that teaches, at once, and the latter again.
	require.NoError(t, gmailAccount.Person().Label(t.Context(), "Orders", message))
	w.work()
	require.Len(t, proposed(), 2)
	require.NoError(t, gmailAccount.Person().Label(t.Context(), "Postroom/Teach", message))
	w.work()
	w.work()
	require.Equal(t, []string{lessons.ByHand, "api", "api"}, proposed())
	require.Empty(t, w.ruleNames())
	sessions, err := view.NewChatSessions(t.Context(), w.app, account.ID, 1)
	require.NoError(t, err)
	talk, err := w.app.ResumeTalk(t.Context(), sessions[0].ID)
	require.NoError(t, err)
	_, _, err = talk.Accept(t.Context(), "ada", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"Label mail of orders@shop.example"}, w.ruleNames())
}

// What people said about a model's decisions stands beside how sure it was.
func TestCalibration(t *testing.T) {
	onBothWith(t, func(c *config.Config) { c.Learn.Enabled = true }, testCalibration)
}

func testCalibration(t *testing.T, w *world) {
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	kind := postroom.Star
	decide := func(n int, confidence float64) (actions []postroom.Action) {
		for i := range n {
			msg, err := w.app.FindMessage(t.Context(), account, w.deliver(fmt.Sprintf("Order %g", confidence)))
			require.NoError(t, err)
			msg.From.Email = fmt.Sprintf("orders%d-%g@shop.example", i, confidence)
			record := w.app.Ledger.Record(t.Context(), msg, postroom.Decision{Action: kind, Confidence: confidence,
				Source: postroom.SourceModel, Model: "m", Key: "test", Rationale: "So it seems.", NeedsApproval: true})
			require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				a, err := record(ctx, tx)
				actions = append(actions, a)
				return err
			}))
		}
		return actions
	}
	answer := func(actions []postroom.Action, right bool) {
		for _, a := range actions {
			require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				if right {
					_, err := w.app.Ledger.Approve(ctx, tx, a.ID, "ada")
					return err
				}
				_, err := w.app.Ledger.Reject(ctx, tx, a.ID, "ada", "no")
				return err
			}))
		}
		w.work()
	}
	answer(decide(3, 0.95), true)
	answer(decide(2, 0.55), false)
	decide(1, 0.2) // nobody has answered
	c := call[learning.Calibration](w, "GET", "/learn/calibration", "", http.StatusOK)
	require.Equal(t, 5, c.Answers)
	require.Equal(t, learning.Bin{From: 0.9, To: 1, Right: 3}, c.Bins[9])
	require.Equal(t, 2, c.Bins[5].Wrong)
	require.Equal(t, 0.7, c.Threshold)
	require.Equal(t, "There are 5 answers; a threshold is proposed from 46 on.", c.Says())

	// What was done alone, read and left for two weeks is right; what was changed back is not.
	star := decide(1, 0.85)[0]
	answer([]postroom.Action{star}, true)
	later := time.Now().AddDate(0, 0, 15)
	_, err = w.app.Undoer.Request(t.Context(), star.ID)
	require.NoError(t, err)
	w.work()
	found, err := learning.Calibrate(t.Context(), w.app, []mailstore.Account{account}, later)
	require.NoError(t, err)
	require.Equal(t, 1, found.Bins[8].Wrong, "it was approved, and taken back")

	// Three senders by one click, which had four messages each: one answer about each sender.
	var click []postroom.Action
	for range 4 {
		click = append(click, decide(3, 0.75)...)
	}
	answer(click, true)
	found, err = learning.Calibrate(t.Context(), w.app, []mailstore.Account{account}, later)
	require.NoError(t, err)
	require.Equal(t, 3, found.Bins[7].Right)

	// What a model has put into the trash, and a person has seen there, was right; what is unread says nothing.
	kind = postroom.Trash
	thrown := decide(2, 0.65)
	answer(thrown, true)
	person, err := w.gmail.Account(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NoError(t, person.Person().Read(t.Context(), thrown[0].ProviderMessageID))
	w.work()
	require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error { // as if nobody was asked
		for _, statement := range []string{"UPDATE actions SET approval_id = '' WHERE type = 'trash'",
			"DELETE FROM feedback WHERE proposed_action = 'trash'"} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
	found, err = learning.Calibrate(t.Context(), w.app, []mailstore.Account{account}, later)
	require.NoError(t, err)
	require.Equal(t, learning.Bin{From: 0.6, To: 0.7, Right: 1}, found.Bins[6])
}

// Of two mailboxes that share a file, each removes its own rule, whatever the other's is named.
func TestALearnedRuleOfAMailboxThatSharesItsRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules: []\n"), 0o600))
	w := newWorldWith(t, "", func(c *config.Config) { c.Learn.Enabled, c.Paths.Rules = true, config.Path(file) })
	shares, err := w.app.SharesRules(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.False(t, shares)
	w.addOther()
	shares, err = w.app.SharesRules(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.True(t, shares)

	accounts, err := w.app.Mail.Accounts(t.Context())
	require.NoError(t, err)
	require.Len(t, accounts, 2)
	require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		now := dbtime.Of(queue.Now(tx))
		for i, state := range []lessons.State{lessons.Proposed, lessons.Accepted} {
			text := "rules:\n  - {name: \"Learned: shop\", condition: {type: sender_email, value: news@shop.example}, " +
				"action: archive, priority: 900000, scope: account, scope_ref: " + accounts[i].Email + "}\n"
			_, err := tx.ExecContext(ctx, `INSERT INTO learned_rules (id, account_id, rule_key, state, class, name, rule_text,
agreeing, contradicting, lower_bound, first_at, last_at, evidence_json, matched, proposed_at, changed_at, changed_by)
VALUES ($1, $2, 'key', $3, 'medium', 'Learned: shop', $4, 7, 0, 0.65, $5, $5, '{}', 12, $5, $5, 'learning')`,
				fmt.Sprintf("0%d", i), accounts[i].ID, string(state), text, now)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, w.app.AcceptLearned(t.Context(), "00", "ann"))
	require.NoError(t, w.app.RemoveLearned(t.Context(), "01", "ann"))
	r, err := w.app.Lessons.Rule(t.Context(), "01")
	require.NoError(t, err)
	require.Equal(t, lessons.Dismissed, r.State)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), accounts[0].Email, "it is the other mailbox's")
	require.NoError(t, w.app.RemoveLearned(t.Context(), "00", "ann"))
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), accounts[0].Email)
}

func (w *world) ruleNames() (names []string) {
	w.Helper()
	list, err := w.app.Rules.List(w.Context())
	require.NoError(w, err)
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

// What was done to many messages at once is asked about, and counts by the person's word.
func TestCorrectionsInBulkAreAskedAbout(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) { c.Learn.Enabled = true })
	w.moveOrders(25)
	report := call[map[string]int](w, "POST", "/learn/run", "{}", http.StatusOK)
	require.Equal(w, []int{25, 0}, []int{report["bulk"], report["proposed"]})
	require.Equal(w, 25, call[learning.Listing](w, "GET", "/learn", "", http.StatusOK).Bulk)
	call[problem](w, "POST", "/learn/bulk", `{"count": true, "shown": 24}`, http.StatusConflict)
	require.Equal(w, 25, call[map[string]int](w, "POST", "/learn/bulk", `{"count": true, "shown": 25}`,
		http.StatusOK)["corrections"])
	report = call[map[string]int](w, "POST", "/learn/run", "{}", http.StatusOK)
	require.Equal(w, []int{0, 1}, []int{report["bulk"], report["proposed"]})
}

func TestNothingIsLearnedUnlessAsked(t *testing.T) {
	w := newWorld(t)
	for path, body := range map[string]string{"/learn/run": "{}", "/learn/bulk": `{"count": true}`,
		"/learn/answer": `{"id": "x", "answer": "accept"}`} {
		refused := call[problem](w, "POST", path, body, http.StatusUnprocessableEntity)
		require.Contains(w, refused.Detail+refused.Error, "learn.enabled", path)
	}
	call[problem](w, "GET", "/learn", "", http.StatusUnprocessableEntity)
}
