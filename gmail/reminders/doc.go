// Package reminders tells a user something at a time: once, or again and again by a cron expression in the user's time
// zone. A reminder that has come, or is to come, can be snoozed, and canceled.
//
//	store, err := reminders.New(reminders.Config{DB: db, Queue: q, Deliver: tell})
//	err = store.Register(dispatcher)
//	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
//		_, err := store.Add(ctx, tx, reminders.NewReminder{UserID: "ada", Title: "Call Ben", At: at})
//		return err
//	})
//
// # The way of a reminder
//
// A reminder that comes once has a job [JobDelivery] that is due then. One that recurs has a schedule of the queue,
// which enqueues such a job at each instant; after a time in which nothing ran it comes once. There is no scheduler
// here.
//
//	scheduled → delivered   comes once, and has come
//	scheduled → scheduled   recurs, and has come; or was snoozed
//	delivered → scheduled   was snoozed
//	… → canceled            is done, or not wanted any more
//
// The job calls [Config].Deliver in the transaction that records the delivery as a step of the job. So whatever Deliver
// writes, such as the jobs that tell the user, is written exactly once for each time that the reminder comes, wherever
// the process dies. A job that was canceled or replaced meanwhile delivers nothing, and says so in its result.
//
// Jobs and schedules have the UserID of the reminder: queueadmin.DeleteUser removes them, and [Store.Forget] the
// reminders with all that is theirs.
package reminders
