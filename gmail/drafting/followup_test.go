package drafting_test

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// followUps lists the jobs that wait for their time.
func (w *world) followUps() []queue.Job {
	w.t.Helper()
	jobs, err := w.queue.Jobs(w.t.Context(), queue.Filter{Types: []string{string(drafting.JobFollowUp)},
		States: []queue.State{queue.StateQueued}, Limit: 100})
	require.NoError(w.t, err)
	return jobs
}

// timePasses has the jobs that wait for their time now run, and none that these enqueue.
func (w *world) timePasses() {
	w.t.Helper()
	w.timePassesFor(w.followUps()...)
}

func (w *world) timePassesFor(waiting ...queue.Job) {
	w.t.Helper()
	for _, job := range waiting {
		require.NoError(w.t, w.queue.Hasten(w.t.Context(), job.ID))
	}
	require.NoError(w.t, w.queue.Resume(w.t.Context(), queue.ForType(drafting.JobFollowUp)))
	w.worksOff(waiting)
	require.NoError(w.t, w.queue.Pause(w.t.Context(), queue.ForType(drafting.JobFollowUp)))
	w.run()
}

// worksOff runs jobs until these have ended.
func (w *world) worksOff(jobs []queue.Job) {
	w.t.Helper()
	d := w.dispatcher(true, queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	for _, job := range jobs {
		require.Eventually(w.t, func() bool {
			now, err := w.queue.Job(ctx, job.ID)
			return err == nil && now.State != queue.StateQueued && now.State != queue.StateRunning
		}, time.Minute, 10*time.Millisecond)
	}
	cancel()
	require.NoError(w.t, <-ended)
}

// archive takes a message out of the inbox, as the person does.
func (w *world) archive(id string) {
	w.t.Helper()
	_, err := w.google.Users.Messages.Modify("me", id, &api.ModifyMessageRequest{RemoveLabelIds: []string{"INBOX"}}).Do()
	require.NoError(w.t, err)
	w.sync()
}

// writesIn sends a message of the person in a thread, that Gmail receives some hours from now.
func (w *world) writesIn(thread string, hours int) string {
	w.t.Helper()
	at := time.Now().Add(time.Duration(hours) * time.Hour)
	m := &api.Message{LabelIds: []string{"SENT"}, ThreadId: thread, Raw: encoded("From: You <you@example.com>\r\n" +
		"To: Zoë <ann@example.com>\r\nSubject: Re: Tea?\r\nReferences: <first@example.com>\r\nDate: " +
		at.UTC().Format(time.RFC1123Z) + "\r\n\r\nAnd?\r\n")}
	m, err := w.google.Users.Messages.Insert("me", m).InternalDateSource("dateHeader").Do()
	require.NoError(w.t, err)
	w.sync()
	return m.Id
}

// hosts lists what was recorded as this program's own decisions.
func (w *world) hosts() []safety.Entry {
	w.t.Helper()
	list, err := w.ledger.Actions(w.t.Context(), safety.Filter{AccountID: w.account, Limit: 100})
	require.NoError(w.t, err)
	return list
}

// Nobody answers, and the thread comes back, once, however often the label was put on and the changes are heard. What
// brings it back is actions.
func TestAThreadWithoutAnAnswerComesBack(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first, second := w.letter(1), w.letter(2)
		w.archive(first.ID)
		w.archive(second.ID)
		w.label(waiting, first.ID, second.ID)
		w.sync()
		for _, event := range w.heard {
			w.tx(event)
		}
		w.run()
		jobs := w.followUps()
		require.Len(t, jobs, 1, "a conversation waits once")
		require.WithinDuration(t, time.Now().Add(7*24*time.Hour), jobs[0].NotBefore, time.Minute)
		require.Equal(t, []string{waiting}, w.labels(second.ID), "until then nothing happens")
		w.timePasses()
		require.Equal(t, []string{"INBOX", actionRequired}, w.labels(second.ID))
		require.Empty(t, w.labels(first.ID))
		done := w.hosts()
		require.Len(t, done, 2)
		for _, e := range done {
			require.Equal(t, postroom.ActionCompleted, e.Action.State)
			require.Equal(t, postroom.SourceHost, e.Decision.Decision.Source)
			require.Contains(t, e.Decision.Decision.Rationale, "Nobody has answered since ")
		}
		w.sync()
		require.Empty(t, w.followUps(), "it is over")
		w.label(waiting, second.ID)
		w.sync()
		require.Len(t, w.followUps(), 1, "and may be again")
	})
}

// An answer, a label taken off and Done end the waiting; the answer of a program does not.
func TestWhatEndsTheWaiting(t *testing.T) {
	// As Exchange answers for somebody who is away.
	automatic := strings.Replace(question, "Subject: Tea?",
		"Auto-Submitted: auto-generated\r\nX-Auto-Response-Suppress: All\r\nSubject: Tea?", 1)
	list := strings.Replace(question, "Subject: Tea?", "List-Id: <tea.example.com>\r\nSubject: Tea?", 1)
	for name, ends := range map[string]func(w *world, id string) []string{
		"an answer": func(w *world, id string) []string {
			w.letter(2)
			require.Empty(w.t, w.labels(id), "the label goes")
			return nil
		},
		"an answer on a list": func(w *world, id string) []string {
			_, err := w.server.Deliver(w.t.Context(), []byte(strings.ReplaceAll(list, "%d", "9")))
			require.NoError(w.t, err)
			w.sync()
			require.Empty(w.t, w.labels(id), "the label goes")
			return nil
		},
		"taken off": func(w *world, id string) []string {
			w.unlabel(waiting, id)
			return nil
		},
		"taken off and not heard of": func(w *world, id string) []string {
			w.unlabel(waiting, id)
			w.learn()
			return nil
		},
		"done": func(w *world, id string) []string {
			w.label(done, id)
			return nil
		},
		"the answer of a program": func(w *world, _ string) []string {
			m, err := w.server.Deliver(w.t.Context(), []byte(strings.ReplaceAll(automatic, "%d", "9")))
			require.NoError(w.t, err)
			w.sync()
			w.archive(m.ID)
			require.Len(w.t, w.followUps(), 1)
			return []string{"INBOX", actionRequired}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				m := w.letter(1)
				w.archive(m.ID)
				w.label(waiting, m.ID)
				w.sync()
				want := ends(w, m.ID)
				w.sync()
				w.timePasses()
				newest := w.newest(m.ThreadID)
				if newest != m.ID && want == nil {
					require.Equal(t, []string{"INBOX"}, w.labels(newest))
				} else {
					require.Equal(t, want, w.labels(newest))
				}
				require.NotContains(t, w.labels(m.ID), waiting)
				if want == nil {
					require.Empty(t, w.hosts())
				}
			})
		})
	}
}

// Who writes again waits from then on; a thread that only the person has written in comes back as well.
func TestWhoWritesAgainWaitsAnew(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		thread := w.writesIn("", -1)
		m, err := w.google.Users.Messages.Get("me", thread).Do()
		require.NoError(t, err)
		w.label(waiting, m.Id)
		w.sync()
		again := w.writesIn(m.ThreadId, 24)
		w.timePasses()
		jobs := w.followUps()
		require.Len(t, jobs, 1)
		require.WithinDuration(t, time.Now().Add(8*24*time.Hour), jobs[0].NotBefore, time.Minute)
		require.Equal(t, []string{waiting}, w.labels(m.Id))
		w.timePasses()
		require.Equal(t, []string{"INBOX", actionRequired}, w.labels(again))
	})
}

func TestNothingComesBackWithoutTheSetting(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.FollowUp = 0
		var err error
		w.service, err = drafting.New(w.cfg)
		require.NoError(t, err)
		m := w.letter(1)
		w.label(waiting, m.ID)
		w.sync()
		require.Empty(t, w.followUps())
		w.cfg.FollowUp, w.cfg.Record = time.Hour, nil
		_, err = drafting.New(w.cfg)
		require.ErrorContains(t, err, "Config.Record is missing")
	})
}

// does has an action of a rule carried out on a message.
func (w *world) does(id string, kind postroom.ActionType, label string) {
	w.t.Helper()
	messages, err := w.store.Search(w.t.Context(), w.account, mailindex.Search{})
	require.NoError(w.t, err)
	labels, err := w.store.Labels(w.t.Context(), w.account)
	require.NoError(w.t, err)
	at := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.Name == label })
	for _, m := range messages.Messages {
		if m.ProviderID == id {
			w.tx(func(ctx context.Context, tx queue.Tx) error {
				_, err := w.ledger.Record(ctx, m, postroom.Decision{Action: kind, Confidence: 1, Source: postroom.SourceHost,
					Parameters: postroom.Parameters{postroom.ParamLabel: labels[at].ID}, Key: rand.Text(),
					Rationale: "a rule"})(ctx, tx)
				return err
			})
		}
	}
	w.run()
}

// A rule that puts the label on waits as a person does, once; if its action is undone, the thread does not come back.
func TestARuleWaits(t *testing.T) {
	for name, undone := range map[string]bool{"it stays": false, "it is undone": true} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				m := w.letter(1)
				w.does(m.ID, postroom.ApplyLabel, done)
				require.Empty(t, w.followUps(), "only Waiting waits")
				w.archive(m.ID)
				w.does(m.ID, postroom.ApplyLabel, waiting)
				w.sync()
				require.Len(t, w.followUps(), 1)
				want := []string{"INBOX", actionRequired, done}
				if undone {
					w.does(m.ID, postroom.RemoveLabel, waiting)
					want = []string{done}
				}
				slices.Sort(want)
				w.timePasses()
				require.Equal(t, want, w.labels(m.ID))
				require.Empty(t, w.followUps())
			})
		})
	}
}

// The job of a waiting that has ended does not end the next one, which a rule has begun with the answer.
func TestAnEndedWaitingEndsNoOther(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first := w.letter(1)
		w.does(first.ID, postroom.ApplyLabel, waiting)
		ended := w.followUps()
		require.Len(t, ended, 1)
		second := w.letter(2)
		require.NotContains(t, w.labels(first.ID), waiting)
		w.archive(second.ID)
		w.does(second.ID, postroom.ApplyLabel, waiting)
		w.timePassesFor(ended...)
		require.Equal(t, []string{waiting}, w.labels(second.ID))
		require.Len(t, w.followUps(), 1)
		w.timePasses()
		require.Equal(t, []string{"INBOX", actionRequired}, w.labels(second.ID))
	})
}

// What the person has answered waits by itself, until the answer comes or the person takes the label off.
func TestWhatWasAnsweredWaits(t *testing.T) {
	for name, ends := range map[string]func(w *world, id string) []string{
		"nobody answers": func(*world, string) []string { return []string{"INBOX", actionRequired} },
		"an answer": func(w *world, _ string) []string {
			w.letter(2)
			return []string{"INBOX"}
		},
		"taken off": func(w *world, id string) []string {
			w.unlabel(waiting, id)
			w.sync()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.cfg.FollowUpSent = true
				var err error
				w.service, err = drafting.New(w.cfg)
				require.NoError(t, err)
				m := w.letter(1)
				w.label(needsResponse, m.ID)
				w.sync()
				require.Empty(t, w.followUps())
				w.send(w.oneDraft())
				w.sync()
				require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
				require.Equal(t, []string{"INBOX", waiting}, w.labels(m.ID))
				for _, event := range w.heard {
					w.tx(event)
				}
				w.archive(m.ID)
				require.Len(t, w.followUps(), 1)
				want := ends(w, m.ID)
				w.timePasses()
				require.NotContains(t, w.labels(m.ID), waiting)
				require.Equal(t, want, w.labels(w.newest(m.ThreadID)))
			})
		})
	}
	_, err := drafting.New(drafting.Config{FollowUpSent: true})
	require.ErrorContains(t, err, "FollowUpSent is set, and FollowUp is 0")
}

// What is noticed late waits since it was sent, and not at all if the answer was there before.
func TestWhatIsNoticedLateWaitsSinceItWasSent(t *testing.T) {
	for name, answered := range map[string]bool{"nobody answers": false, "an answer": true} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				w.cfg.FollowUpSent = true
				var err error
				w.service, err = drafting.New(w.cfg)
				require.NoError(t, err)
				m := w.letter(1)
				w.label(needsResponse, m.ID)
				w.sync()
				w.writesIn(m.ThreadID, 1)
				if answered {
					w.letterAt(2, 2)
					w.sync()
				}
				w.run(drafting.NewCheckJob(""))
				require.Equal(t, replies.Sent, w.reply(m.ThreadID).State)
				jobs := w.followUps()
				if answered {
					require.Empty(t, jobs)
					require.NotContains(t, w.labels(m.ID), waiting)
					return
				}
				require.Len(t, jobs, 1)
				require.WithinDuration(t, time.Now().Add(7*24*time.Hour+time.Hour), jobs[0].NotBefore, time.Minute)
				require.Contains(t, w.labels(m.ID), waiting)
			})
		})
	}
}
