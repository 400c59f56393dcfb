package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Between the driver and the rest: payloads are stored as the queue's [Codec] makes them.

func (q *Queue) addSchedule(ctx context.Context, tx *Tx, s StoredSchedule) (added bool, err error) {
	if err := q.writeSchedule(&s); err != nil {
		return false, err
	}
	return q.driver.AddSchedule(ctx, tx, s)
}

func (q *Queue) lockSchedule(ctx context.Context, tx *Tx, name string) (*StoredSchedule, error) {
	s, err := q.driver.LockSchedule(ctx, tx, lookup(name))
	if err == nil {
		q.readSchedule(s)
	}
	return s, err
}

func (q *Queue) updateSchedule(ctx context.Context, tx *Tx, s StoredSchedule) error {
	if err := q.writeSchedule(&s); err != nil {
		return err
	}
	return q.driver.UpdateSchedule(ctx, tx, s)
}

// readSchedule leaves a payload that cannot be decoded as it is stored.
func (q *Queue) readSchedule(s *StoredSchedule) {
	stored, _ := s.Job.Payload.(json.RawMessage)
	payload, err := q.codecs.decode(stored, schedulePlace(s))
	if err != nil {
		s.Fault = fmt.Sprintf("its payload: %v", err)
	}
	s.Job.Payload = payload
}

func (q *Queue) writeSchedule(s *StoredSchedule) error {
	payload, _ := s.Job.Payload.(json.RawMessage)
	if isEncoded(payload) {
		return nil
	}
	stored, err := q.codecs.encode(payload, schedulePlace(s), "")
	s.Job.Payload = stored
	return err
}

func schedulePlace(s *StoredSchedule) place { return place{"schedule", s.Job.Type, s.Name} }

// lookAtSchedules is a part of [Queue.Doctor].
func (q *Queue) lookAtSchedules(ctx context.Context) ([]Finding, error) {
	schedules, err := q.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for i := range schedules {
		s := &schedules[i]
		switch late := time.Since(s.NextAt); {
		case s.Fault != "":
			findings = append(findings, Finding{SeverityProblem,
				fmt.Sprintf("schedule %s cannot fire: %s", s.Name, s.Fault), "set it anew, or give this machine what it lacks"})
		case !s.NextAt.IsZero() && late > longWait:
			findings = append(findings, Finding{SeverityWarning,
				fmt.Sprintf("schedule %s has been due for %v", s.Name, late.Round(time.Second)), "a Dispatcher that runs would have fired it"})
		}
	}
	return findings, nil
}
