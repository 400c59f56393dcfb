package reminders_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A desk is a queue with reminders, and what users were told.
type desk struct {
	testing.TB
	*reminders.Store
	q *queue.Queue
}

func deskAt(t testing.TB, q *queue.Queue) *desk {
	t.Helper()
	require.NoError(t, reminders.Migrate(context.Background(), q.DB()))
	require.NoError(t, makeTold(context.Background(), q.DB()))
	s, err := reminders.New(reminders.Config{DB: q.DB(), Queue: q, Deliver: tell})
	require.NoError(t, err)
	return &desk{t, s, q}
}

func tell(ctx context.Context, tx queue.Tx, d reminders.Delivery) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO told (delivery, user_id, title, at) VALUES ($1, $2, $3, $4)", d.Key,
		d.Reminder.UserID, d.Reminder.Title, d.At.UTC().Format(time.RFC3339))
	return err
}

func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		test(t, deskAt(t, q))
	})
}

func (d *desk) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	return d.q.DB().Write(context.Background(), fn)
}

func (d *desk) add(n reminders.NewReminder) (r reminders.Reminder) {
	d.Helper()
	require.NoError(d, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		r, err = d.Add(ctx, tx, n)
		return err
	}))
	return r
}

func (d *desk) snooze(id string, until time.Time) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.Snooze(ctx, tx, id, until) })
}

func (d *desk) cancel(id string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.Cancel(ctx, tx, id) })
}

func (d *desk) get(id string) reminders.Reminder {
	d.Helper()
	r, err := d.Reminder(context.Background(), id)
	require.NoError(d, err)
	return r
}

// work makes all due that waits for its time, and runs it.
func (d *desk) work() {
	d.Helper()
	queuetest.PromoteScheduled(d, d.q)
	queuetest.Work(d, d.q, func(disp *queue.Dispatcher) { require.NoError(d, d.Register(disp)) })
}

// told lists what users were told: whom, what, and when it was to come.
func (d *desk) told() (list []string) {
	d.Helper()
	require.NoError(d, d.q.DB().Reader().Select(&list, "SELECT user_id || ': ' || title || ' at ' || at FROM told ORDER BY at, title"))
	return list
}

func (d *desk) jobs(states ...queue.State) []queue.Job {
	d.Helper()
	jobs, err := d.q.Jobs(context.Background(), queue.Filter{States: states, Limit: 1000})
	require.NoError(d, err)
	return jobs
}

var soon = time.Now().Add(time.Hour).UTC().Truncate(time.Second)

func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Seed 001, AC-20 and its handler contract: reminder_delivery.
func TestAReminderComesOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.add(reminders.NewReminder{UserID: "ada", Title: " Call Ben ", Body: "about tea", At: soon})
		require.Equal(t, "Call Ben", r.Title)
		require.Equal(t, reminders.Scheduled, r.State)
		require.Equal(t, soon, r.Next)
		job := d.jobs(queue.StateQueued)[0]
		require.Equal(t, "reminder_delivery", job.Type)
		require.JSONEq(t, `{"reminder_id": "`+r.ID+`", "user_id": "ada"}`, string(job.Payload))
		require.Equal(t, "ada", job.UserID)
		require.Equal(t, soon, job.NotBefore)

		d.work()
		require.Equal(t, []string{"ada: Call Ben at " + at(soon)}, d.told())
		require.JSONEq(t, `{"delivered": true, "reminder_id": "`+r.ID+`"}`, string(d.jobs(queue.StateCompleted)[0].Result))
		r = d.get(r.ID)
		require.Equal(t, reminders.Delivered, r.State)
		require.Zero(t, r.Next)
		require.Equal(t, 1, r.Deliveries)
		require.WithinDuration(t, time.Now(), r.DeliveredAt, time.Minute)
	})
}

func TestAReminderOfNobodyIsSkipped(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		job := reminders.JobDelivery.New(reminders.Payload{ReminderID: "none", UserID: "ada"}, nil)
		_, err := d.q.Enqueue(t.Context(), job)
		require.NoError(t, err)
		d.work()
		require.JSONEq(t, `{"skipped": true, "reason": "Reminder not found"}`, string(d.jobs()[0].Result))
	})
}

func TestASnoozedReminderComesLaterAndOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.add(reminders.NewReminder{UserID: "ada", Title: "Tea", At: soon})
		later := soon.Add(24 * time.Hour)
		require.NoError(t, d.snooze(r.ID, later))
		require.Equal(t, later, d.get(r.ID).Next)
		require.Len(t, d.jobs(queue.StateQueued), 1)
		d.work()
		require.Equal(t, []string{"ada: Tea at " + at(later)}, d.told())

		again := soon.Add(48 * time.Hour)
		require.NoError(t, d.snooze(r.ID, again), "it has come, and comes again")
		require.Equal(t, reminders.Scheduled, d.get(r.ID).State)
		d.work()
		require.Equal(t, []string{"ada: Tea at " + at(later), "ada: Tea at " + at(again)}, d.told())
		require.Equal(t, 2, d.get(r.ID).Deliveries)
	})
}

// The process may die between the delivery and the end of its job, and the user may snooze what has come before the job
// runs again.
func TestASnoozeDoesNotWaitForTheJobOfTheLastDelivery(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		r := d.add(reminders.NewReminder{UserID: "ada", Title: "Tea", At: soon})
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE reminders SET state = 'delivered', due_at = NULL, job_id = '', deliveries = 1
				WHERE id = $1`, r.ID) // as its step does
			return err
		}))
		later := soon.Add(24 * time.Hour)
		require.NoError(t, d.snooze(r.ID, later))
		var due []time.Time
		for _, job := range d.jobs(queue.StateQueued) {
			due = append(due, job.NotBefore)
		}
		require.ElementsMatch(t, []time.Time{soon, later}, due)
		d.work()
		require.Equal(t, []string{"ada: Tea at " + at(later)}, d.told())
	})
}

func TestACanceledReminderDoesNotCome(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		once := d.add(reminders.NewReminder{UserID: "ada", Title: "Tea", At: soon})
		often := d.add(reminders.NewReminder{UserID: "ada", Title: "Water", Cron: "0 9 * * *", Zone: "Europe/Berlin"})
		require.Equal(t, "Europe/Berlin", often.Zone)
		require.NoError(t, d.snooze(often.ID, soon))
		_, err := d.q.FireSchedule(t.Context(), "reminder:"+often.ID)
		require.NoError(t, err)
		for _, id := range []string{once.ID, often.ID} {
			require.NoError(t, d.cancel(id))
			require.ErrorIs(t, d.cancel(id), reminders.ErrCanceled)
			require.ErrorIs(t, d.snooze(id, soon), reminders.ErrCanceled)
			require.Zero(t, d.get(id).Next)
		}
		d.work()
		require.Empty(t, d.told())
		require.JSONEq(t, `{"skipped": true, "reason": "it was canceled"}`, string(d.jobs(queue.StateCompleted)[0].Result),
			"the schedule had fired before")
		schedules, err := d.q.Schedules(t.Context())
		require.NoError(t, err)
		require.Empty(t, schedules)
		open, err := d.List(t.Context(), reminders.Filter{Open: true})
		require.NoError(t, err)
		require.Empty(t, open)
	})
}

// What has come, or was canceled, is not among those that are bounded.
func TestOnlyWhatIsToComeIsBounded(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		tea := reminders.NewReminder{UserID: "ada", Title: "Tea", At: soon}
		came := d.add(tea)
		d.work()
		add := func(n int) error {
			return d.write(func(ctx context.Context, tx queue.Tx) error {
				for range n {
					if _, err := d.Add(ctx, tx, tea); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, add(500))
		require.ErrorIs(t, add(1), reminders.ErrTooMany)
		require.ErrorIs(t, d.snooze(came.ID, soon.Add(time.Hour)), reminders.ErrTooMany)
		list, err := d.List(t.Context(), reminders.Filter{UserID: "ada", Limit: 1})
		require.NoError(t, err)
		require.NoError(t, d.snooze(list[0].ID, soon.Add(time.Hour)), "it is one of them already")
		require.NoError(t, d.cancel(list[0].ID))
		require.NoError(t, add(1))
	})
}

// The clocks of Berlin go forward on Sunday, 28 March 2027.
func TestARecurringReminderKeepsTheZoneOfItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berlin, err := time.LoadLocation("Europe/Berlin")
		require.NoError(t, err)
		time.Sleep(time.Until(time.Date(2027, 3, 26, 12, 0, 0, 0, berlin)))
		d := deskAt(t, queuetest.New(t))
		r := d.add(reminders.NewReminder{UserID: "ada", Title: "Look", Cron: "30 7 * * MON-FRI", Zone: "Europe/Berlin"})
		monday := time.Date(2027, 3, 29, 7, 30, 0, 0, berlin)
		require.Equal(t, monday.UTC(), d.get(r.ID).Next.UTC())
		snoozed := time.Date(2027, 3, 27, 10, 0, 0, 0, berlin)
		require.NoError(t, d.snooze(r.ID, snoozed))
		require.Equal(t, snoozed.UTC(), d.get(r.ID).Next.UTC())

		disp, err := queue.NewDispatcher(d.q, nil)
		require.NoError(t, err)
		require.NoError(t, d.Register(disp))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- disp.Run(ctx) }()
		time.Sleep(time.Until(time.Date(2027, 3, 30, 12, 0, 0, 0, berlin)))
		synctest.Wait()
		require.Equal(t, []string{"ada: Look at " + at(snoozed), "ada: Look at " + at(monday),
			"ada: Look at " + at(monday.AddDate(0, 0, 1))}, d.told())
		require.Equal(t, reminders.Scheduled, d.get(r.ID).State)
		stop()
		require.NoError(t, <-ended)
	})
}

func TestADeliveryIsWrittenOnceWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		d := deskAt(t, q)
		r := d.add(reminders.NewReminder{UserID: "ada", Title: "Tea", At: time.Now().Add(time.Hour)})
		require.NoError(t, d.snooze(r.ID, time.Now().Add(2*time.Hour)))
		queuetest.PromoteScheduled(t, q)
		return queuetest.Scenario{Register: func(disp *queue.Dispatcher) { require.NoError(t, d.Register(disp)) }}
	})
}

func TestADeliveryThatFailsIsTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		fails := true
		s, err := reminders.New(reminders.Config{DB: d.q.DB(), Queue: d.q,
			Deliver: func(ctx context.Context, tx queue.Tx, delivery reminders.Delivery) error {
				if fails {
					fails = false
					return errors.New("no room")
				}
				return tell(ctx, tx, delivery)
			}})
		require.NoError(t, err)
		d.Store = s
		r := d.add(reminders.NewReminder{UserID: "ada", Title: "Tea", At: soon})
		d.work()
		require.False(t, fails)
		require.Equal(t, []string{"ada: Tea at " + at(soon)}, d.told())
		require.Equal(t, 1, d.get(r.ID).Deliveries, "what failed left nothing")
	})
}

// A person cancels or snoozes at the moment at which it comes.
func TestChangesBesideADeliveryDoNotDoubleIt(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		const n = 30
		var ids []string
		for i := range n {
			ids = append(ids, d.add(reminders.NewReminder{UserID: "ada", Title: fmt.Sprint("Tea ", i), At: soon}).ID)
		}
		queuetest.PromoteScheduled(t, d.q)
		var beside sync.WaitGroup
		canceled := make([]bool, n)
		beside.Go(func() {
			for i, id := range ids {
				if i%2 == 0 {
					canceled[i] = d.cancel(id) == nil
				} else if err := d.snooze(id, soon.Add(time.Hour)); err != nil {
					t.Error(err)
				}
			}
		})
		disp, err := queue.NewDispatcher(d.q, nil)
		require.NoError(t, err)
		require.NoError(t, d.Register(disp))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- disp.Run(ctx) }()
		beside.Wait()
		stop()
		require.NoError(t, <-ended)
		d.work()
		for i, id := range ids {
			r := d.get(id)
			told := len(slices.DeleteFunc(d.told(), func(line string) bool { return !strings.Contains(line, r.Title+" at") }))
			require.Equal(t, r.Deliveries, told, r.Title)
			if i%2 == 0 {
				require.True(t, canceled[i])
				require.LessOrEqual(t, told, 1)
				continue
			}
			require.GreaterOrEqual(t, told, 1, "a snoozed one comes, whatever came before")
			require.LessOrEqual(t, told, 2)
		}
	})
}

func TestAddRefusesWhatIsNoReminder(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for text, n := range map[string]reminders.NewReminder{
			"it has no user":               {Title: "a", At: soon},
			"the title is \"\"":            {UserID: "ada", Title: " ", At: soon},
			"write one line":               {UserID: "ada", Title: "a\nb", At: soon},
			"longer than 200 characters":   {UserID: "ada", Title: strings.Repeat("ä", 201), At: soon},
			"body is longer than 2000":     {UserID: "ada", Title: "a", Body: strings.Repeat("ä", 2001), At: soon},
			"either a time or a cron":      {UserID: "ada", Title: "a"},
			"either a time or a cron expr": {UserID: "ada", Title: "a", At: soon, Cron: "@daily"},
			"is not in the future":         {UserID: "ada", Title: "a", At: time.Now().Add(-time.Second)},
			"is more than 10 years ahead":  {UserID: "ada", Title: "a", At: soon.AddDate(11, 0, 0)},
			"Schedule.Cron":                {UserID: "ada", Title: "a", Cron: "sometimes"},
			"Schedule.Zone":                {UserID: "ada", Title: "a", Cron: "@daily", Zone: "Middle/Earth"},
			"which never comes":            {UserID: "ada", Title: "a", Cron: "0 0 31 2 *"},
		} {
			err := d.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := d.Add(ctx, tx, n)
				return err
			})
			require.ErrorIs(t, err, reminders.ErrInvalid, text)
			require.ErrorContains(t, err, text)
		}
		require.Empty(t, d.jobs())
		_, err := d.Reminder(t.Context(), "none")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		require.ErrorIs(t, d.cancel("none"), postroom.ErrNotFound)
		require.ErrorIs(t, d.snooze("none", soon), postroom.ErrNotFound)
	})
}

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, berlin) // a Friday
	for text, want := range map[string]time.Time{
		"tomorrow":                  time.Date(2026, 11, 28, 8, 0, 0, 0, berlin),
		"Monday 9:30":               time.Date(2026, 11, 30, 9, 30, 0, 0, berlin),
		"in 3 hours":                now.Add(3 * time.Hour),
		"2027-01-31T08:00:00+01:00": time.Date(2027, 1, 31, 8, 0, 0, 0, berlin),
	} {
		got, err := reminders.ParseTime(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s is %s", text, got)
	}
	_, err = reminders.ParseTime("whenever", now)
	require.ErrorIs(t, err, reminders.ErrInvalid)
}

func TestAUserIsForgotten(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		for _, user := range []string{"ada", "bob"} {
			d.add(reminders.NewReminder{UserID: user, Title: "Tea", At: soon})
			d.add(reminders.NewReminder{UserID: user, Title: "Water", Cron: "@daily"})
		}
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { return d.Forget(ctx, tx, "ada") }))
		d.work()
		require.Equal(t, []string{"bob: Tea at " + at(soon)}, d.told())
		schedules, err := d.q.Schedules(t.Context())
		require.NoError(t, err)
		require.Len(t, schedules, 1)

		_, err = queueadmin.DeleteUser(t.Context(), d.q, "bob", nil)
		require.NoError(t, err)
		list, err := d.List(t.Context(), reminders.Filter{UserID: "bob", Open: true, DeliveredSince: time.Now()})
		require.NoError(t, err)
		require.Len(t, list, 1, "the one that recurs; the other has come")
		require.Zero(t, list[0].Next, "its schedule is gone with the jobs of the user")
		require.NoError(t, d.cancel(list[0].ID))
	})
}

// Whatever people do, in whatever order: each reminder that is to come has one job or a schedule, and each time that it
// came was told once.
func TestReminderModel(t *testing.T) {
	dbtest.Checks(t, 25)
	d := deskAt(t, queuetest.New(t))
	rapid.Check(t, func(t *rapid.T) {
		user := rapid.StringMatching(`[a-z]{12}`).Draw(t, "user")
		var ids []string
		came := map[string]int{}
		waits := map[string]bool{}
		pick := func() string { return rapid.SampledFrom(ids).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				id := d.add(reminders.NewReminder{UserID: user, Title: "once", At: soon}).ID
				ids, waits[id] = append(ids, id), true
			},
			"add recurring": func(*rapid.T) {
				id := d.add(reminders.NewReminder{UserID: user, Title: "often", Cron: "@yearly"}).ID
				ids, waits[id] = append(ids, id), false
			},
			"snooze": func(*rapid.T) {
				if len(ids) == 0 {
					return
				}
				if id := pick(); d.snooze(id, soon.Add(time.Hour)) == nil {
					waits[id] = true
				}
			},
			"cancel": func(*rapid.T) {
				if len(ids) == 0 {
					return
				}
				id := pick()
				require.Equal(t, d.get(id).State == reminders.Canceled, d.cancel(id) != nil)
				waits[id] = false
			},
			"time passes": func(*rapid.T) {
				d.work()
				for id, waiting := range waits {
					if waiting {
						came[id]++
						waits[id] = false
					}
				}
			},
			"": func(t *rapid.T) {
				queued := map[string]int{}
				jobs, err := d.q.Jobs(context.Background(), queue.Filter{UserID: user, States: []queue.State{queue.StateQueued},
					Limit: 1000})
				require.NoError(t, err)
				for i := range jobs {
					var p reminders.Payload
					require.NoError(t, json.Unmarshal(jobs[i].Payload, &p))
					queued[p.ReminderID]++
				}
				for _, id := range ids {
					r := d.get(id)
					want := 0
					if waits[id] {
						want = 1
					}
					require.Equal(t, want, queued[id])
					require.Equal(t, came[id], r.Deliveries)
					require.Equal(t, waits[id] || r.Recurs() && r.State == reminders.Scheduled, !r.Next.IsZero())
					var told int
					require.NoError(t, d.q.DB().Reader().Get(&told, "SELECT COUNT(DISTINCT delivery) FROM told WHERE delivery LIKE $1",
						id+"%"))
					require.Equal(t, came[id], told)
				}
			},
		})
	})
}
