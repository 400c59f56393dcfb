package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// Between the driver and the rest: payloads are stored as the queue's [Codec] makes them, and the options of a job as JSON.

func (q *Queue) addSchedule(ctx context.Context, tx *driver.WriteTx, s StoredSchedule) (added bool, err error) {
	row, err := q.scheduleRow(&s)
	if err != nil {
		return false, err
	}
	return q.driver.AddSchedule(ctx, tx, row)
}

func (q *Queue) lockSchedule(ctx context.Context, tx *driver.WriteTx, name string) (*StoredSchedule, error) {
	row, err := q.driver.LockSchedule(ctx, tx, lookup(name))
	if err != nil {
		return nil, err
	}
	s := q.storedSchedule(row)
	return &s, nil
}

func (q *Queue) updateSchedule(ctx context.Context, tx *driver.WriteTx, s StoredSchedule) error {
	row, err := q.scheduleRow(&s)
	if err != nil {
		return err
	}
	return q.driver.UpdateSchedule(ctx, tx, row)
}

// storedSchedule leaves a payload that cannot be decoded as it is stored. A row that cannot be read has a Fault, and does not
// keep others from firing.
func (q *Queue) storedSchedule(row *driver.Schedule) StoredSchedule {
	s := StoredSchedule{
		Schedule: Schedule{Name: row.Name, Cron: row.Cron, Zone: row.Zone, CatchUp: CatchUp(row.CatchUp), Job: NewJob{Type: row.Type}},
		Paused:   row.Paused, NextAt: row.NextAt, LastAt: row.LastAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if err := json.Unmarshal(row.Options, &s.Job.Options); err != nil { //nolint:musttag // its fields' names are a promise to users
		s.Fault = fmt.Sprintf("its options_json: %v", err)
	}
	payload, err := q.codecs.decode(row.Payload, schedulePlace(row.Type, row.Name))
	if err != nil {
		s.Fault = fmt.Sprintf("its payload: %v", err)
	}
	s.Job.Payload = payload
	return s
}

func (q *Queue) scheduleRow(s *StoredSchedule) (driver.Schedule, error) {
	row := driver.Schedule{
		Name: s.Name, Cron: s.Cron, Zone: s.Zone, CatchUp: string(s.CatchUp), Type: s.Job.Type,
		Paused: s.Paused, NextAt: s.NextAt, LastAt: s.LastAt, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	var err error
	if row.Options, err = json.Marshal(s.Job.Options); err != nil { //nolint:musttag // as above
		return row, err
	}
	row.Payload, _ = s.Job.Payload.(json.RawMessage)
	if !isEncoded(row.Payload) {
		row.Payload, err = q.codecs.encode(row.Payload, schedulePlace(row.Type, row.Name), "")
	}
	return row, err
}

func schedulePlace(jobType, name string) place { return place{"schedule", jobType, name} }
