package discord_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

func labels(m discordtest.Message) []string {
	var list []string
	for _, row := range m.Components {
		for _, b := range row.Components {
			list = append(list, b.Label)
		}
	}
	return list
}

func TestARequestIsOneMessageThatShowsItsOutcome(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, outcome := range []safety.Outcome{safety.OutcomeApproved, safety.OutcomeRejected} {
			a, m := f.asked()
			require.Equal(t, []string{"Approve", "Reject", "Show"}, labels(m))
			for _, part := range []string{"Approval requested", "`delete`", "`a@example.com`", "`Hello`", "`it is old`",
				"`model some-model`"} {
				require.Contains(t, m.Text(), part)
			}
			require.JSONEq(t, `{"parse":[],"replied_user":false}`, string(m.AllowedMentions))
			require.True(t, m.Enforced && m.Nonce != "", "a request to post it that is still under way posts nothing more")
			f.work()
			require.Zero(t, f.message(m.ID).Edits, "nothing has changed")

			f.answer(a.ID, outcome, "carol")
			f.work()
			m = f.message(m.ID)
			require.Empty(t, labels(m))
			require.Contains(t, m.Text(), string(outcome)+" by `carol`")
			require.Equal(t, 1, m.Edits)
			f.work()
			require.Equal(t, 1, f.message(m.ID).Edits)
		}
		require.Len(t, f.server.Messages(), 2)
	})
}

func TestARenewedRequestHasAMessageOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a, first := f.asked()
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { return f.ledger.Renew(ctx, tx, a.ID) })
		f.work()
		require.Contains(t, f.message(first.ID).Text(), "Withdrawn")
		require.Empty(t, labels(f.message(first.ID)))
		require.Len(t, f.server.Messages(), 2)
		require.NotEqual(t, first.ID, f.last().ID)
		require.Len(t, labels(f.last()), 3)
	})
}

func TestAnExpiredRequestSaysSo(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a, m := f.asked()
		expiry := f.jobs(queue.Filter{Types: []string{"approval.expire"}})
		require.Len(t, expiry, 1)
		approvals, err := f.ledger.ApprovalsOf(t.Context(), a.ID)
		require.NoError(t, err)
		require.WithinDuration(t, approvals[0].ExpiresAt, expiry[0].NotBefore, time.Millisecond)

		// The request expires while nobody looks.
		f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "UPDATE approvals SET expires_at = requested_at WHERE id = $1",
				approvals[0].ID); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET not_before = created_at WHERE id = $1", expiry[0].ID)
			return err
		})
		require.NoError(t, f.dispatcher().RunUntilIdle(t.Context()))
		m = f.message(m.ID)
		require.Contains(t, m.Text(), "Expired")
		require.Contains(t, m.Text(), "Nobody answered until")
		require.Empty(t, labels(m))
		require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID))
	})
}

func TestWhatWasAnsweredBeforeItWasPostedIsNotPosted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a := f.ask(time.Now(), nil)
		f.answer(a.ID, safety.OutcomeRejected, "carol")
		f.ask(time.Now().Add(-30*24*time.Hour), nil) // and this one has expired
		f.work()
		require.Empty(t, f.server.Messages())
	})
}

// An attempt dies at each place where it can: there is one message in the end, and it is known.
func TestThereIsOneMessageWhateverFails(t *testing.T) {
	post, list, edit := "POST", "GET", "PATCH"
	for name, test := range map[string]struct {
		faults []discordtest.Fault
		forget bool
	}{
		"nothing":                         {},
		"refused":                         {faults: []discordtest.Fault{{Method: post, Status: 500, Times: 2}}},
		"proxy":                           {faults: []discordtest.Fault{{Method: post, Status: 502}}},
		"not heard":                       {faults: []discordtest.Fault{{Method: post, Cut: discordtest.CutBefore}}},
		"answer lost":                     {faults: []discordtest.Fault{{Method: post, Cut: discordtest.CutAfter}}},
		"answer lost, and the search too": {faults: []discordtest.Fault{{Method: post, Cut: discordtest.CutAfter}, {Method: list, Path: "/messages", Status: 500}}},
		"answer lost, nonce forgotten":    {faults: []discordtest.Fault{{Method: post, Cut: discordtest.CutAfter}}, forget: true},
		"found, and not edited at once":   {faults: []discordtest.Fault{{Method: post, Cut: discordtest.CutAfter}, {Method: edit, Status: 503, Times: 3}}},
		"rate limit":                      {faults: []discordtest.Fault{{Method: post, Status: http.StatusTooManyRequests, RetryAfter: time.Millisecond, Times: 2}}},
		"last call of the limit":          {faults: []discordtest.Fault{{Method: post, ResetAfter: time.Millisecond}}},
	} {
		run := func(t *testing.T, f *fixture) {
			if test.forget {
				for range 120 { // so much that the search has several pages
					f.server.Write(mallory, "chatter")
				}
			}
			f.server.Fault(test.faults...)
			if test.forget {
				// A second request to post, which there is not to be, would come when the nonce is forgotten.
				gate := make(chan struct{})
				f.server.Fault(discordtest.Fault{Method: post, Nth: 2, Gate: gate})
				go func() {
					defer close(gate)
					_ = f.server.Await(t.Context(), func() bool { return f.server.Count(post, "/messages") > 1 })
					f.server.ForgetNonces()
				}()
			}
			a := f.ask(time.Now(), nil)
			f.work()
			var ours []discordtest.Message
			for _, m := range f.server.Messages() {
				if m.Author.Bot {
					ours = append(ours, m)
				}
			}
			require.Len(t, ours, 1)
			f.answer(a.ID, safety.OutcomeApproved, "carol")
			f.work()
			require.Contains(t, f.message(ours[0].ID).Text(), "approved by `carol`")
		}
		t.Run(name, func(t *testing.T) {
			if name == "answer lost" {
				each(t, run)
				return
			}
			run(t, newFixture(t, dbtest.SQLite(t), nil))
		})
	}
}

// The request is answered while its message is not known: it is found and updated, or never posted.
func TestAMessageThatWasLostIsClosed(t *testing.T) {
	for name, cut := range map[string]discordtest.Cut{"posted": discordtest.CutAfter,
		"not posted": discordtest.CutBefore} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				a := f.ask(time.Now(), nil)
				f.server.Fault(discordtest.Fault{Method: "POST", Cut: cut},
					discordtest.Fault{Path: "/users/@me", Status: 500, Times: -1})
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- f.dispatcher().Run(ctx) }()
				f.await(func() bool { return f.server.Count("GET", "/users/@me") > 1 })
				f.answer(a.ID, safety.OutcomeRejected, "carol")
				stop()
				require.NoError(t, <-ended)
				f.server.ClearFaults()
				f.work()
				if cut == discordtest.CutBefore {
					require.Empty(t, f.server.Messages())
					return
				}
				require.Len(t, f.server.Messages(), 1)
				require.Contains(t, f.last().Text(), "rejected by `carol`")
				require.Contains(t, f.last().Text(), "`no ˋneedˋ`")
			})
		})
	}
}

func TestAnEditIsRetriedAndADeletedMessageStaysDeleted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a, m := f.asked()
		f.server.Fault(discordtest.Fault{Method: "PATCH", Status: 500, Times: 3})
		f.answer(a.ID, safety.OutcomeApproved, "carol")
		f.work()
		require.Contains(t, f.message(m.ID).Text(), "approved by `carol`")

		a, m = f.asked()
		require.True(t, f.server.Delete(m.ID))
		f.answer(a.ID, safety.OutcomeApproved, "carol")
		f.work()
		require.Len(t, f.server.Messages(), 1)
		require.Empty(t, f.jobs(queue.Filter{States: []queue.State{queue.StateFailed, queue.StateQueued},
			Types: []string{"approval.notify"}}))
	})
}

func TestWhatDiscordFindsInvalidIsNotSentAgain(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.server.Fault(discordtest.Fault{Method: "POST", Status: 400, Code: 50035, Message: "Invalid Form Body", Times: -1})
		f.ask(time.Now(), nil)
		f.work()
		failed := f.jobs(queue.Filter{States: []queue.State{queue.StateFailed}})
		require.Len(t, failed, 1)
		require.Contains(t, failed[0].LastError, "discord: post a message: 400 Bad Request: Invalid Form Body (code 50035)")
		require.NotContains(t, failed[0].LastError, f.server.Token())
		require.Equal(t, 1, f.server.Count("POST", ""))
	})
}

func TestMailTextIsShownAsCode(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		attack := "@everyone <@53908232506183680> `**bold**` [x](https://evil.example)\u202e\u0007\nnew"
		f.ask(time.Now(), func(m *postroom.Message, d *postroom.Decision) {
			m.Subject, d.Rationale = attack, strings.Repeat("`", 3)+attack+strings.Repeat("😀", 5000)
		})
		f.work()
		fields := map[string]string{}
		for _, field := range f.last().Embeds[0].Fields {
			fields[field.Name] = field.Value
		}
		require.Equal(t, "`@everyone <@53908232506183680> ˋ**bold**ˋ [x](https://evil.example) new`", fields["Subject"])
		require.Equal(t, 2, strings.Count(fields["Because"], "`"))
		require.True(t, strings.HasSuffix(fields["Because"], "…`"))
	})
}
