package queue

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Filter selects jobs; empty fields do not restrict. States, Types, UserID, Key and LimitKey use an index; Tags alone is
// searched among the jobs that have any. The other fields are compared with each remaining job, newest first, until Limit jobs
// are found. Searching for a rare tag or a time long ago takes some tenths of a second for each million jobs, and so does
// counting.
type Filter struct {
	States []State
	Types  []string
	// UserID, Key and LimitKey are those of [Options]. Key is the name of a key, whether or not the job still holds it.
	UserID   string
	Key      string
	LimitKey string
	// Tags selects the jobs that have all of them.
	Tags []string
	// CreatedFrom and CreatedBefore bound when the job was enqueued.
	CreatedFrom   time.Time
	CreatedBefore time.Time
	// Before is a job id: only jobs with lower ids, which are older, are listed.
	Before string
	// Limit bounds a listing: default 20, bounds 1 to 1000. [Queue.Redrive] and [Queue.CancelAll] take 0 as no bound and do as
	// many otherwise; counts ignore it.
	Limit int
	// All says that a call which changes jobs is meant for all there are: [Queue.Redrive] and [Queue.CancelAll] refuse a Filter
	// in which nothing but States and Limit is set, unless All is. Reading ignores it.
	All bool
}

// selects reports whether something other than the state chooses among the jobs.
func (f *Filter) selects() bool {
	return len(f.Types)+len(f.Tags) > 0 || f.UserID+f.Key+f.LimitKey+f.Before != "" || !f.CreatedFrom.IsZero() || !f.CreatedBefore.IsZero()
}

func (f *Filter) stored() driver.Filter {
	return driver.Filter{
		States: f.States, Types: f.Types, UserID: f.UserID, Key: f.Key, LimitKey: f.LimitKey, Tags: f.Tags,
		CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore, Before: f.Before, Limit: f.Limit,
	}
}
