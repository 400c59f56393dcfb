package driver

import "time"

// AllTypes is the name of a type target that stands for all types; it can be paused, not limited.
const AllTypes = "*"

// CoalescePrefix begins the limit keys of jobs whose idempotency key is of scope coalesce.
const CoalescePrefix = "coalesce:"

// A TargetKind is how the jobs of a [Target] are chosen.
type TargetKind string

// The kinds of targets.
const (
	TargetType      TargetKind = "type"
	TargetKey       TargetKind = "key"
	TargetKeyPrefix TargetKind = "prefix"
)

// A Target is what is limited or paused.
type Target struct {
	Kind TargetKind
	Name string // of the type, the limit key, or its beginning
}

// A Limit bounds how many jobs of a [Target] run at once, and how many start in a time. Zero fields do not bound; a Rate
// comes with Per and with a Burst of at least 1.
type Limit struct {
	MaxRunning int
	Rate       int
	Per        time.Duration
	Burst      int
}

// A LimitStatus is a limit that is set, or a pause.
type LimitStatus struct {
	Target
	Limit
	Paused bool
}
