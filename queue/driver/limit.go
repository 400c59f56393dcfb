package driver

import "time"

// AllTypes is the name of a type target that stands for all types. It can be paused, but not limited.
const AllTypes = "*"

// CoalescePrefix begins the limit keys of jobs whose idempotency key is of scope coalesce.
const CoalescePrefix = "coalesce:"

// A TargetKind is the way in which a [Target] selects jobs.
type TargetKind string

// The kinds of targets.
const (
	TargetType      TargetKind = "type"
	TargetKey       TargetKind = "key"
	TargetKeyPrefix TargetKind = "prefix"
)

// A Target is a set of jobs that is limited or paused.
type Target struct {
	Kind TargetKind
	Name string // of the type, the limit key, or its prefix
}

// A Limit bounds the jobs of a [Target] that run at once, and that start within a time. Zero fields set no bounds. A
// Rate requires Per and a Burst of at least 1.
type Limit struct {
	MaxRunning int
	Rate       int
	Per        time.Duration
	Burst      int
}

// A LimitStatus is a limit or a pause of a target.
type LimitStatus struct {
	Target
	Limit
	Paused bool
}
