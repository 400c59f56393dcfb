package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/stop"
)

// letter is a message that Gmail has verified.
func letter(from, to string, fields ...string) string {
	domain := strings.TrimSuffix(from[strings.IndexByte(from, '@')+1:], ">")
	return "Received: from mail.example.com by mx.google.com with ESMTPS id x; Sat, 07 Mar 2026 12:00:00 +0000\r\n" +
		"Authentication-Results: mx.google.com; dmarc=pass header.from=" + domain + "\r\nFrom: " + from + "\r\nTo: " + to +
		"\r\nSubject: tea\r\n" + strings.Join(append(fields, ""), "\r\n") + "\r\nNow?\r\n"
}

// isAway switches an absence on.
func (w *world) isAway(p *Pipeline, accountID string, change func(a *away.Absence)) (a away.Absence) {
	w.Helper()
	a = away.Absence{AccountID: accountID, Until: time.Now().Add(48 * time.Hour), Text: "I am away until {{until}}.",
		SetBy: "ada"}
	if change != nil {
		change(&a)
	}
	require.NoError(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		a, err = p.Away.Set(ctx, tx, a)
		return err
	}))
	return a
}

// settle runs all jobs there are.
func (w *world) settle(p *Pipeline) {
	w.Helper()
	faults, err := p.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

// sent returns the answers of a mailbox.
func (w *world) sent(email string) (list []string) {
	w.Helper()
	account, err := w.server.Account(w.Context(), email)
	require.NoError(w, err)
	all, err := account.Snapshot(w.Context())
	require.NoError(w, err)
	service, err := account.Service(w.Context())
	require.NoError(w, err)
	for _, m := range all {
		sent, err := service.Users.Messages.Get("me", m.ID).Format("full").Do()
		require.NoError(w, err)
		for _, label := range sent.LabelIds {
			if label == postroom.LabelSent {
				var b strings.Builder
				for _, h := range sent.Payload.Headers {
					fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
				}
				list = append(list, b.String())
			}
		}
	}
	return list
}

func sending(cfg Config) Config {
	cfg.Outbox = &outbox.Config{}
	return cfg
}

// Of many messages of one sender one is answered, beside what a rule does with each, in the thread, marked as
// automatic; and so after a restart and whatever is reported twice.
func TestAnAbsenceAnswersASenderOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		cfg := sending(Config{Rules: rulesOf(map[string]string{ada: archives})})
		p := w.pipeline(cfg)
		id := w.add(p, ada)
		a := w.isAway(p, id, nil)
		w.settle(p)
		for i := range 30 {
			w.deliver(ada, letter(fmt.Sprintf("Eve <eve+%d@example.com>", i%3), ada,
				fmt.Sprintf("Message-ID: <%d@example.com>", i)))
		}
		w.settle(p)
		list := w.sent(ada)
		require.Len(t, list, 1)
		for _, want := range []string{"Auto-Submitted: auto-replied\n", "Subject: Re: tea\n", "In-Reply-To: <"} {
			require.Contains(t, list[0], want)
		}
		answers, err := p.Ledger.Actions(t.Context(), safety.Filter{AccountID: id,
			Types: []postroom.ActionType{postroom.AutoReply}, Limit: 100})
		require.NoError(t, err)
		require.Len(t, answers, 1)
		require.Equal(t, postroom.ActionCompleted, answers[0].Action.State, answers[0].Action.Error)
		d := answers[0].Decision.Decision
		require.Equal(t, "away", d.RuleName)
		require.Contains(t, d.Rationale, "ada is away until "+a.LastDay())
		require.Equal(t, "I am away until "+a.LastDay()+".", answers[0].Action.Parameters["body"])

		p = w.pipeline(cfg) // another process
		w.deliver(ada, letter("eve@example.com", ada))
		again, err := p.Mail.Message(t.Context(), id, answers[0].Action.MessageID)
		require.NoError(t, err)
		_, err = p.Queue.Enqueue(t.Context(), gmail.NewIngestJob(id, again.ProviderID))
		require.NoError(t, err)
		w.settle(p)
		require.Len(t, w.sent(ada), 1)
		n, err := p.Away.Answered(t.Context(), id, a.Since)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// Two responders that face each other send one answer.
func TestTwoAbsencesDoNotAnswerEachOther(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(sending(Config{}))
	ids := map[string]string{ada: w.add(p, ada), bob: w.add(p, bob)}
	for _, id := range ids {
		require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := p.Rules.Import(ctx, tx, id, []rules.Rule{})
			return err
		}))
		w.isAway(p, id, nil)
	}
	w.settle(p)
	w.deliver(ada, letter(bob, ada))
	w.settle(p)
	list := w.sent(ada)
	require.Len(t, list, 1)
	w.deliver(bob, "Received: from mail.example.com by mx.google.com with ESMTPS id x; Sat, 07 Mar 2026 12:00:00 +0000\r\n"+
		"Authentication-Results: mx.google.com; dmarc=pass header.from=example.org\r\n"+
		strings.ReplaceAll(list[0], "\n", "\r\n")+"\r\nI am away.\r\n")
	w.settle(p)
	require.Empty(t, w.sent(bob))
	require.Len(t, w.sent(ada), 1)
}

// What a person has said since holds: an answer that waits is not sent when its owner is back.
func TestAnAbsenceThatEndsSendsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(sending(Config{Rules: rulesOf(map[string]string{ada: archives})}))
		id := w.add(p, ada)
		w.isAway(p, id, nil)
		w.settle(p)
		w.stop(p)
		w.deliver(ada, letter("eve@example.com", ada))
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Empty(t, w.sent(ada), "the stop holds")
		w.write(func(ctx context.Context, tx queue.Tx) error {
			ended, err := p.Away.End(ctx, tx, id, "ada")
			require.True(t, ended)
			return err
		})
		answers := w.answers(p, id)
		require.Len(t, answers, 1)
		require.Equal(t, postroom.ActionCanceled, answers[0].Action.State, "nobody is asked")
		require.Contains(t, answers[0].Action.Error, "ada is back")
		w.resume(p)
		require.Empty(t, w.sent(ada))
	})
}

// An answer that waits for a person, or has the approval of one, is not sent when the absence is over.
func TestAnApprovedAnswerIsNotSentAfterTheEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		now := time.Now()
		cfg := sending(Config{Rules: rulesOf(map[string]string{ada: archives}), Now: func() time.Time { return now }})
		cfg.Safety.Policy = gate.Policy{Caps: []limits.Cap{{Actions: []postroom.ActionType{postroom.AutoReply}, Most: 1,
			Window: 24 * time.Hour}}}
		p := w.pipeline(cfg)
		id := w.add(p, ada)
		w.isAway(p, id, nil)
		w.settle(p)
		for _, from := range []string{"eve", "zoe", "amy"} {
			w.deliver(ada, letter(from+"@example.com", ada))
			w.settle(p)
		}
		require.Len(t, w.sent(ada), 1)
		answers := w.answers(p, id)
		require.Equal(t, postroom.ActionPendingApproval, answers[0].Action.State)
		approve := func(actionID string) {
			w.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := p.Ledger.Approve(ctx, tx, actionID, "ada")
				return err
			})
		}
		w.stop(p)
		approve(answers[0].Action.ID)
		now = now.Add(49 * time.Hour)
		w.resume(p)
		require.Len(t, w.sent(ada), 1)
		require.Contains(t, w.answers(p, id)[0].Action.Error, "the absence is over")

		now = now.Add(-time.Hour - time.Minute)
		w.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := p.Away.End(ctx, tx, id, "ada")
			return err
		})
		require.ErrorIs(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := p.Ledger.Approve(ctx, tx, answers[1].Action.ID, "ada")
			return err
		}), safety.ErrState)
		require.Contains(t, w.answers(p, id)[1].Action.Error, "ada is back")
		require.Equal(t, postroom.ActionCompleted, w.answers(p, id)[2].Action.State)
	})
}

// A sender whose answer was not sent is answered when the next mail comes: the turn is not spent.
func TestWhoGotNoAnswerIsAnswered(t *testing.T) {
	for name, ends := range map[string]func(w *world, p *Pipeline, a postroom.Action){
		"changed": func(w *world, p *Pipeline, a postroom.Action) { w.isAway(p, a.AccountID, nil) },
		"rejected": func(w *world, p *Pipeline, a postroom.Action) {
			w.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := p.Ledger.Reject(ctx, tx, a.ID, "ada", "")
				return err
			})
		},
		"canceled": func(w *world, p *Pipeline, a postroom.Action) {
			w.write(func(ctx context.Context, tx queue.Tx) error { return p.Ledger.Cancel(ctx, tx, a.ID, "no") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				p := w.pipeline(sending(Config{Rules: rulesOf(map[string]string{ada: archives})}))
				id := w.add(p, ada)
				w.isAway(p, id, nil)
				w.settle(p)
				w.stop(p)
				w.deliver(ada, letter("eve@example.com", ada))
				_, err := p.RunUntilIdle(t.Context())
				require.NoError(t, err)
				ends(w, p, w.answers(p, id)[0].Action)
				w.resume(p)
				require.Empty(t, w.sent(ada))
				require.True(t, w.answers(p, id)[0].Action.State.Final())
				w.deliver(ada, letter("eve@example.com", ada))
				w.settle(p)
				require.Len(t, w.sent(ada), 1)
			})
		})
	}
}

// A request that nobody has answered in time keeps the turn of its sender no longer than until the sender writes again.
func TestWhoseAnswerNobodyApprovedIsAnswered(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		capped := sending(Config{Rules: rulesOf(map[string]string{ada: archives})})
		capped.Safety.Policy = gate.Policy{Caps: []limits.Cap{{Actions: []postroom.ActionType{postroom.AutoReply}, Most: 1,
			Window: 24 * time.Hour}}}
		p := w.pipeline(capped)
		id := w.add(p, ada)
		w.isAway(p, id, nil)
		w.settle(p)
		for _, from := range []string{"zoe", "eve", "eve"} {
			w.deliver(ada, letter(from+"@example.com", ada))
			w.settle(p)
		}
		answers := w.answers(p, id)
		require.Len(t, answers, 2, "the first of eve's waits for a person, and the second has no turn")
		waits := answers[0].Action
		require.Equal(t, postroom.ActionPendingApproval, waits.State)
		w.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at WHERE action_id = $1", waits.ID)
			return err
		})

		p = w.pipeline(sending(Config{Rules: rulesOf(map[string]string{ada: archives})})) // there is no cap any more
		w.deliver(ada, letter("eve@example.com", ada))
		w.settle(p)
		answers = w.answers(p, id)
		require.Len(t, answers, 3)
		require.Equal(t, postroom.ActionCompleted, answers[0].Action.State, answers[0].Action.Error)
		require.Equal(t, waits.ID, answers[1].Action.ID)
		require.Equal(t, postroom.ActionCanceled, answers[1].Action.State, "or eve would get two")
		require.Contains(t, answers[1].Action.Error, "nobody has approved it in time")
		require.Len(t, w.sent(ada), 2)
	})
}

// Nobody gets two automatic answers within the interval, and the mail after it is answered.
func TestAnAnswerWithinTheIntervalSpendsNoTurn(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(sending(Config{Rules: rulesOf(map[string]string{ada: archives})}))
	id := w.add(p, ada)
	w.isAway(p, id, nil)
	w.settle(p)
	w.deliver(ada, letter("eve@example.com", ada))
	w.settle(p)
	w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := p.Away.End(ctx, tx, id, "ada")
		return err
	})
	a := w.isAway(p, id, nil)
	w.deliver(ada, letter("eve@example.com", ada))
	w.settle(p)
	require.Len(t, w.sent(ada), 1)
	require.Contains(t, w.answers(p, id)[0].Action.Error, outbox.ErrReplied.Error())
	n, err := p.Away.Answered(t.Context(), id, a.Since)
	require.NoError(t, err)
	require.Zero(t, n, "the turn is left to mail that comes later")
}

// A process that sends nothing forgets an absence with its mailbox.
func TestAnAbsenceIsRemovedWithItsMailbox(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(sending(Config{}))
	id := w.add(p, ada)
	w.isAway(p, id, nil)
	require.NoError(t, w.pipeline(Config{}).RemoveAccount(t.Context(), id))
	_, err := p.Away.Absence(t.Context(), id)
	require.ErrorIs(t, err, postroom.ErrNotFound)
}

func (w *world) write(fn func(ctx context.Context, tx queue.Tx) error) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), fn))
}

func (w *world) stop(p *Pipeline) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error {
		return p.Ledger.Switch().Stop(ctx, tx, "ada", stop.Options{Why: "wait"})
	})
}

// resume ends the stop, and runs what it has held.
func (w *world) resume(p *Pipeline) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error { return p.Ledger.Switch().Resume(ctx, tx, "ada", "go on") })
	held, err := p.Backlog.Queued(w.Context(), queue.Filter{Types: byRules}, func(*queue.Job) bool { return true })
	require.NoError(w, err)
	require.NoError(w, p.Backlog.makeDue(w.Context(), jobIDs(held)))
	_, err = p.RunUntilIdle(w.Context())
	require.NoError(w, err)
}

// answers returns the answers of a mailbox, the latest first.
func (w *world) answers(p *Pipeline, accountID string) []safety.Entry {
	w.Helper()
	list, err := p.Ledger.Actions(w.Context(), safety.Filter{AccountID: accountID,
		Types: []postroom.ActionType{postroom.AutoReply}, Limit: 100})
	require.NoError(w, err)
	return list
}

// Caps and a dry run hold.
func TestAnAbsenceIsWithinThePolicy(t *testing.T) {
	w := newWorld(t)
	capped := sending(Config{Rules: rulesOf(map[string]string{ada: archives})})
	capped.Safety.Policy = gate.Policy{Caps: []limits.Cap{{Actions: []postroom.ActionType{postroom.AutoReply}, Most: 1,
		Window: 24 * time.Hour}}}
	p := w.pipeline(capped)
	id := w.add(p, ada)
	w.isAway(p, id, nil)
	w.settle(p)
	dry := sending(Config{Rules: rulesOf(map[string]string{ada: archives})})
	dry.Safety.DryRun = true
	var would []postroom.ActionType
	dry.Tried = func(_ context.Context, _ *postroom.Message, e safety.Entry) { would = append(would, e.Action.Type) }
	w.deliver(ada, letter("eve@example.com", ada))
	tries := w.pipeline(dry)
	_, err := tries.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, []postroom.ActionType{postroom.Archive, postroom.AutoReply}, would)
	n, err := p.Away.Answered(t.Context(), id, time.Time{})
	require.NoError(t, err)
	require.Zero(t, n, "a dry run leaves nothing")

	require.NoError(t, p.Backlog.AskAgain(t.Context()))
	w.deliver(ada, letter("zoe@example.com", ada))
	_, err = p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Len(t, w.sent(ada), 1, "the other waits for a person")
}
