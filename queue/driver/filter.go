package driver

import "time"

// A Filter selects jobs; empty fields do not restrict.
type Filter struct {
	States        []State
	Types         []string
	UserID        string
	Key           string
	LimitKey      string
	Tags          []string // a job must have all of them
	CreatedFrom   time.Time
	CreatedBefore time.Time
	Before        string // only jobs with lower ids
	Limit         int    // at least 1 in a listing; counts ignore it
}
