package enrich_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime/calendar"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const question = "Can we meet on Friday at 14:00?"

// All open stages of a message are answered in one call, and what the form tells is not asked for.
func TestOneCallAnswersAllOpenStages(t *testing.T) {
	asked := &model{}
	eachWorld(t, func(c *enrich.Config) { c.Model = asked }, func(t *testing.T, w *world) {
		*asked = model{}
		e := w.told(letter("m", "ada@else.example", question))
		require.Equal(t, [][]string{{"calendar", "category", "importance"}}, asked.stages())
		require.Equal(t, enrich.StateCompleted, e.State)
		require.Equal(t, "work", e.Category)
		require.Equal(t, enrich.Told{By: enrich.ByModel, Confidence: 0.9, Reasoning: "It is about work."}, e.CategoryTold)
		require.Equal(t, "high", e.Level)
		require.InDelta(t, 0.8, e.Score, 0)
		require.Equal(t, []enrich.ActionItem{{Text: "Send the plan", Due: "2026-03-06"}}, e.ActionItems)
		require.Equal(t, []enrich.Event{{Title: "Plan", Start: "2026-03-06T14:00", Zone: "Europe/Berlin", Place: "Room 1",
			Attendees: []string{"Ada"}}}, e.Events)
		require.Equal(t, 1, e.Calls)
		require.Equal(t, 120, e.Tokens)

		w.told(verified(letter("n", "bob@acme.example", "Thank you!")))
		require.Equal(t, []string{"importance"}, asked.stages()[1], "a colleague, and no time is named")
		w.told(newsletter("o"))
		require.Len(t, asked.stages(), 2)
		require.Equal(t, []string{"m completed", "n completed", "o completed"}, w.sortedEnds())
	})
}

func (m *model) stages() (list [][]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.asked {
		list = append(list, stagesOf(q))
	}
	return list
}

// What the model has said as it decided costs no call of its own; what it has not said, or not so that it can be used,
// is asked for.
func TestWhatWasSaidInTheDecidingCallIsTaken(t *testing.T) {
	asked := &model{}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	whole := answers("category", "importance", "calendar")
	w.arrive(letter("m", "ada@else.example", question), &whole)
	part := answers("category")
	w.arrive(letter("n", "ada@else.example", question), &part)
	w.arrive(letter("o", "ada@else.example", question), &postroom.ModelAnswer{Calls: 2, Tokens: 300})
	w.work()
	require.ElementsMatch(t, [][]string{{"calendar", "importance"}, {"calendar", "category", "importance"}},
		asked.stages())
	require.Equal(t, []int{1, 2, 3}, []int{w.get("m").Calls, w.get("n").Calls, w.get("o").Calls})
	require.Equal(t, []int{120, 240, 420}, []int{w.get("m").Tokens, w.get("n").Tokens, w.get("o").Tokens})
	for _, id := range []string{"m", "n", "o"} {
		require.Equal(t, "work", w.get(id).Category)
		require.Equal(t, enrich.StateCompleted, w.get(id).State)
	}
}

// A part that is wrong does not cost the others, and a model that has refused the mail is not asked about it again.
func TestWhatCanBeUsedOfTheDecidingCallIsTaken(t *testing.T) {
	asked := &model{}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	wrong := answers("category", "importance")
	wrong.JSON = json.RawMessage(strings.Replace(string(wrong.JSON), `"high"`, `"highest"`, 1))
	w.arrive(letter("m", "ada@else.example", "Hello."), &wrong)
	w.work()
	require.Equal(t, [][]string{{"importance"}}, asked.stages())
	require.Equal(t, "work", w.get("m").Category)
	w.arrive(verified(letter("n", "bob@acme.example", question)), &postroom.ModelAnswer{Refused: "It is not allowed."})
	w.work()
	require.Len(t, asked.stages(), 1)
	e := w.get("n")
	require.Equal(t, enrich.StateDeadLetter, e.State)
	require.Equal(t, "work", e.Category)
	require.Equal(t, "It is not allowed.", e.Faults[enrich.StageImportance])
}

func TestArrivedTwiceIsOneJob(t *testing.T) {
	w := sqliteWorld(t, nil)
	w.arrive(newsletter("m"), nil)
	w.work()
	w.arrive(newsletter("m"), nil)
	w.work()
	require.Equal(t, []string{"m completed"}, w.sortedEnds())
}

// An account that is paused has nothing found out about its mail, whether it comes or a person answers about it.
func TestThePauseOfAnAccountHolds(t *testing.T) {
	eachWorld(t, func(c *enrich.Config) { c.LimitKey = func(id string) string { return "mail:" + id } },
		func(t *testing.T, w *world) {
			paused := queue.ForKey("mail:" + account)
			require.NoError(t, w.q.Pause(t.Context(), paused))
			require.Equal(t, enrich.StateFetched, w.told(newsletter("m")).State)
			require.NoError(t, w.q.Resume(t.Context(), paused))
			w.work()
			require.Equal(t, enrich.StateCompleted, w.get("m").State)
			require.NoError(t, w.q.Pause(t.Context(), paused))
			require.NoError(t, w.answer(enrich.Word{MessageID: "m", Stage: enrich.StageCategory, Approve: true}))
			w.work()
			require.Equal(t, []string{"m completed"}, w.sortedEnds())

			canceled, err := w.q.CancelAll(t.Context(), queue.Filter{LimitKey: "mail:" + account})
			require.NoError(t, err)
			require.Equal(t, 1, canceled)
		})
}

// The model is asked until it answers; what was found without it stands meanwhile.
func TestAnOutageHoldsOnlyWhatNeedsTheModel(t *testing.T) {
	down := errors.New("the model is down")
	asked := &model{answer: func(n int, stages []string) (postroom.ModelAnswer, error) {
		if n == 1 {
			return postroom.ModelAnswer{}, down
		}
		return answers(stages...), nil
	}}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	w.arrive(verified(letter("m", "bob@acme.example", "Thank you!")), nil)
	job := queuetest.WorkOne(t, w.q, w.register)
	require.Contains(t, job.LastError, down.Error())
	e := w.get("m")
	require.Equal(t, enrich.StateCategorized, e.State)
	require.Equal(t, "work", e.Category)
	require.True(t, e.HasEnded(enrich.StageCalendar))
	require.False(t, e.HasEnded(enrich.StageImportance))
	require.True(t, e.EndedAt.IsZero())
	queuetest.PromoteScheduled(t, w.q)
	w.work()
	require.Equal(t, enrich.StateCompleted, w.get("m").State)
}

// A stage that fails for good is on record with the reason, and leaves the others.
func TestAStageThatFailsForGoodLeavesTheOthers(t *testing.T) {
	asked := &model{answer: func(int, []string) (postroom.ModelAnswer, error) {
		return answers("category"), fmt.Errorf("%w in 3 tries: importance: it is missing", decide.ErrNoAnswer)
	}}
	eachWorld(t, func(c *enrich.Config) { c.Model = asked }, func(t *testing.T, w *world) {
		e := w.told(letter("m", "ada@else.example", question))
		require.Equal(t, enrich.StateDeadLetter, e.State)
		require.Equal(t, "work", e.Category)
		require.Contains(t, e.Faults[enrich.StageImportance], "importance: it is missing")
		require.Contains(t, e.Faults[enrich.StageCalendar], "in 3 tries")
		require.True(t, e.HasEnded(enrich.StageImportance))
		require.False(t, e.Stands(enrich.StageImportance))
		require.Equal(t, []string{"m dead_letter"}, w.sortedEnds())
		require.Equal(t, []string{"m"}, w.list(enrich.Filter{AccountID: account,
			States: []enrich.State{enrich.StateDeadLetter}}))
	})
}

func TestWithoutAModelWhatIsOpenIsToldByNobody(t *testing.T) {
	w := sqliteWorld(t, nil)
	e := w.told(letter("m", "ada@else.example", "Let us meet on 6 March at 14:30."))
	require.Equal(t, enrich.StatePendingApproval, e.State)
	require.Equal(t, enrich.ByNone, e.CategoryTold.By)
	require.Contains(t, e.CategoryTold.Reasoning, "no model is configured")
	require.False(t, e.Stands(enrich.StageCategory))
	require.Equal(t, []enrich.Event{{Title: "Hello", Start: "2026-03-06T14:30"}}, e.Events)
	require.Equal(t, enrich.ByText, e.CalendarTold.By)
	require.Equal(t, []enrich.Stage{enrich.StageCalendar}, e.Unsure)
}

func TestNoModelIsAskedAboutOldMail(t *testing.T) {
	asked := &model{}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model, c.ModelAge = asked, time.Hour })
	e := w.told(letter("m", "ada@else.example", question))
	require.Empty(t, asked.stages())
	require.Contains(t, e.ImportanceTold.Reasoning, "older than 1h0m0s")
	msg := letter("n", "ada@else.example", question)
	msg.ReceivedAt = time.Now()
	w.told(msg)
	require.Len(t, asked.stages(), 1)
}

// A zone that only the calendar describes has a name that nobody else knows, such as those of Exchange: the times are
// said in UTC.
func TestTheZoneOfACalendarIsKnownLater(t *testing.T) {
	const begin, end = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n", "END:VEVENT\r\nEND:VCALENDAR\r\n"
	event := func(zone string) string {
		return begin + "BEGIN:VTIMEZONE\r\nTZID:" + zone + "\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\n" +
			"TZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nSUMMARY:Review\r\n" +
			"DTSTART;TZID=" + zone + ":20260306T140000\r\nDTEND;TZID=" + zone + ":20260306T150000\r\n" + end
	}
	for zone, want := range map[string]enrich.Event{
		"Customized Time Zone": {Title: "Review", Start: "2026-03-06T08:30", End: "2026-03-06T09:30", Zone: "UTC"},
		// Names that mean another zone elsewhere.
		"Local":        {Title: "Review", Start: "2026-03-06T08:30", End: "2026-03-06T09:30", Zone: "UTC"},
		"Japan":        {Title: "Review", Start: "2026-03-06T08:30", End: "2026-03-06T09:30", Zone: "UTC"},
		"Asia/Kolkata": {Title: "Review", Start: "2026-03-06T14:00", End: "2026-03-06T15:00", Zone: "Asia/Kolkata"},
	} {
		calendars, err := calendar.ParseAll(event(zone))
		require.NoError(t, err)
		w := sqliteWorld(t, func(c *enrich.Config) {
			c.Calendars = func(context.Context, *postroom.Message) ([]*calendar.Calendar, error) { return calendars, nil }
		})
		msg := letter("m", "ada@else.example", question)
		msg.Attachments = []postroom.Attachment{{ContentType: "text/calendar; method=REQUEST", Kind: "calendar"}}
		e := w.told(msg)
		require.Equal(t, []enrich.Event{want}, e.Events, zone)
		require.Contains(t, string(e.EventsICS("")), "DTSTART:20260306T083000Z", zone)
	}
}

// A calendar in the message says what it is about; the model is not asked for that.
func TestACalendarIsReadFirst(t *testing.T) {
	const ics = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1@a.example\r\nSUMMARY:Review\r\n" +
		"DTSTART;TZID=Europe/Berlin:20260306T140000\r\nDTEND;TZID=America/New_York:20260306T093000\r\nLOCATION:Room 1\r\n" +
		"ATTENDEE;CN=Ada:mailto:ada@a.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	calendars, err := calendar.ParseAll(ics)
	require.NoError(t, err)
	fault, asked := error(nil), &model{}
	w := sqliteWorld(t, func(c *enrich.Config) {
		c.Model = asked
		c.Calendars = func(context.Context, *postroom.Message) ([]*calendar.Calendar, error) { return calendars, fault }
	})
	invitation := func(id string) *postroom.Message {
		msg := letter(id, "ada@else.example", question)
		msg.Attachments = []postroom.Attachment{{ContentType: "text/calendar; method=REQUEST", Kind: "calendar"}}
		return msg
	}
	e := w.told(invitation("m"))
	require.Equal(t, []enrich.Event{{UID: "1@a.example", Title: "Review", Start: "2026-03-06T14:00",
		End:  "2026-03-06T15:30",
		Zone: "Europe/Berlin", Place: "Room 1", Attendees: []string{"Ada"}}}, e.Events)
	require.Equal(t, enrich.ByCalendar, e.CalendarTold.By)
	require.Equal(t, "appointments", e.Category)
	require.Equal(t, enrich.StateCompleted, e.State)

	fault = errors.New("the network is down")
	w.arrive(invitation("n"), nil)
	require.Contains(t, queuetest.WorkOne(t, w.q, w.register).LastError, fault.Error())
	require.Equal(t, enrich.StateImportanceChecked, w.get("n").State)
	fault = fmt.Errorf("gone: %w", postroom.ErrNotFound)
	queuetest.PromoteScheduled(t, w.q)
	w.work()
	require.Equal(t, enrich.StateDeadLetter, w.get("n").State)
	require.Contains(t, w.get("n").Faults[enrich.StageCalendar], "gone")

	fault, calendars[0].Method = nil, "CANCEL"
	require.True(t, w.told(invitation("o")).Events[0].Canceled)
	require.Empty(t, asked.stages())

	w = sqliteWorld(t, func(c *enrich.Config) { c.Model = asked })
	e = w.told(invitation("p"))
	require.Equal(t, enrich.ByNone, e.CalendarTold.By)
	require.Empty(t, asked.stages(), "what a calendar says is not asked of the model")
}

func TestAJobOfMailThatIsGoneEnds(t *testing.T) {
	w := sqliteWorld(t, nil)
	w.arrive(newsletter("m"), nil)
	delete(w.mails, "m")
	job := queuetest.WorkOne(t, w.q, w.register)
	require.Equal(t, queue.StateCanceled, job.State)
	require.Contains(t, job.LastError, "no longer stored")
	require.False(t, w.get("m").EndedAt.IsZero())
	require.Empty(t, w.sortedEnds(), "there is nothing that rules could be asked about")
}

// The error that ends a job is the fault of the stages that are open: the row does not stay at work for ever, the rules
// are asked, and a retry of the job goes on.
func TestAJobThatGivesUpEndsItsStages(t *testing.T) {
	down := queue.Fatal(errors.New("the model refuses the key"))
	asked := &model{answer: func(_ int, stages []string) (postroom.ModelAnswer, error) { return answers(stages...), down }}
	eachWorld(t, func(c *enrich.Config) { c.Model = asked }, func(t *testing.T, w *world) {
		cause := down
		defer func() { down = cause }()
		e := w.told(verified(letter("m", "bob@acme.example", "Thank you!")))
		failed, err := w.q.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed}})
		require.NoError(t, err)
		require.Len(t, failed, 1)
		require.Equal(t, enrich.StateDeadLetter, e.State)
		require.False(t, e.EndedAt.IsZero())
		require.Equal(t, "work", e.Category, "what was found stands")
		require.Len(t, e.Faults, 1)
		require.Contains(t, e.Faults[enrich.StageImportance], "the model refuses the key")
		require.Equal(t, []string{"m dead_letter"}, w.sortedEnds())

		down = nil // for the retry
		require.NoError(t, w.q.Retry(t.Context(), failed[0].ID))
		w.work()
		e = w.get("m")
		require.Equal(t, enrich.StateCompleted, e.State)
		require.Equal(t, "high", e.Level)
		require.Empty(t, e.Faults)
		require.Equal(t, []string{"m completed"}, w.sortedEnds())
	})
}

// What follows may be what fails for good: the row ends all the same.
func TestTheRowEndsIfWhatFollowsFails(t *testing.T) {
	w := sqliteWorld(t, func(c *enrich.Config) {
		c.OnEnded = func(context.Context, *postroom.Message, *enrich.Enrichment) (func(context.Context, queue.Tx) error,
			error) {
			return nil, queue.Fatal(errors.New("the rules cannot be read"))
		}
	})
	w.arrive(newsletter("m"), nil)
	job := queuetest.WorkOne(t, w.q, w.register)
	require.Equal(t, queue.StateFailed, job.State)
	require.Contains(t, job.LastError, "the rules cannot be read")
	require.Equal(t, enrich.StateCompleted, w.get("m").State)
}

// What the host does when all stages have ended is of one transaction with the end, and tried again with it.
func TestWhatFollowsIsTriedAgain(t *testing.T) {
	fails := true
	w := sqliteWorld(t, func(c *enrich.Config) {
		then := c.OnEnded
		c.OnEnded = func(ctx context.Context, msg *postroom.Message, e *enrich.Enrichment) (
			func(context.Context, queue.Tx) error, error) {
			record, err := then(ctx, msg, e)
			return func(ctx context.Context, tx queue.Tx) error {
				if fails {
					return errors.New("the rules cannot be read")
				}
				return record(ctx, tx)
			}, err
		}
	})
	w.arrive(newsletter("m"), nil)
	require.Contains(t, queuetest.WorkOne(t, w.q, w.register).LastError, "the rules cannot be read")
	require.Equal(t, enrich.StateEnriched, w.get("m").State)
	fails = false
	queuetest.PromoteScheduled(t, w.q)
	w.work()
	require.Equal(t, enrich.StateCompleted, w.get("m").State)
	require.Equal(t, []string{"m completed"}, w.sortedEnds())
}
