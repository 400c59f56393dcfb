package reminders

// The statements run on SQLite and PostgreSQL alike: parameters are numbered in the order of their first appearance.
const (
	sqlInsert = `
INSERT INTO reminders (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, 'scheduled', $7, $8, 0, NULL, $9)`

	sqlReminder = `
SELECT ` + columns + `
FROM reminders
WHERE id = $1`

	sqlCountOpen = `
SELECT COUNT(*)
FROM reminders
WHERE user_id = $1 AND state = 'scheduled'`

	// A snooze and a cancellation write only if the job is still the one that they have canceled before.
	sqlSnooze = `
UPDATE reminders
SET state = 'scheduled', due_at = $1, job_id = $2
WHERE id = $3 AND job_id = $4 AND state <> 'canceled'`

	sqlCancel = `
UPDATE reminders
SET state = 'canceled', due_at = NULL, job_id = ''
WHERE id = $1 AND job_id = $2 AND state <> 'canceled'`

	// The delivery of a job, which must still be the one that the reminder waits for.
	sqlDeliver = `
UPDATE reminders
SET state = CASE WHEN cron = '' THEN 'delivered' ELSE state END, due_at = NULL, job_id = '', deliveries = deliveries + 1,
  delivered_at = $1
WHERE id = $2 AND job_id = $3 AND state = 'scheduled'
RETURNING ` + columns

	// The delivery of a firing of the schedule.
	sqlDeliverFiring = `
UPDATE reminders
SET deliveries = deliveries + 1, delivered_at = $1
WHERE id = $2 AND cron <> '' AND state = 'scheduled'
RETURNING ` + columns

	sqlOfUser = `
SELECT ` + columns + `
FROM reminders
WHERE user_id = $1`

	sqlForget = `DELETE FROM reminders WHERE user_id = $1`
)
