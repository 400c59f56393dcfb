package learn

import "time"

// A Class says how well a rule is proven.
type Class string

// The classes, the best first.
const (
	// ClassHigh has at least 29 threads over at least three weeks, and a lower bound of precision of at least 0.90; of the
	// votes that were held out, at most a tenth contradict it.
	ClassHigh Class = "high"
	// ClassMedium has at least 5 threads on at least 3 days, of which the last is 72 hours or more after the first, and no
	// contradiction.
	ClassMedium Class = "medium"
	// ClassLow has at least 3 threads that agree, and is not proven: it is counted and not proposed.
	ClassLow Class = "low"
	// ClassNone is what no rule can be made of.
	ClassNone Class = ""
)

const (
	highThreads   = 29 // with no contradiction, the fewest with a bound of 0.90
	highBound     = 0.90
	highSpan      = 21 * 24 * time.Hour
	mediumThreads = 5
	lowThreads    = 3
	// One day's mail teaches nothing.
	fewestDays = 3
	fewestSpan = 3 * 24 * time.Hour
)

// Evidence is what the votes say about a rule: one for each thread.
type Evidence struct {
	Agreeing      int
	Contradicting int
	// HeldOut are the newest quarter of the votes, at least one: the rule was chosen without them.
	HeldOut              int
	HeldOutContradicting int
	Days                 int       // on which mail of the votes was received, in UTC
	First, Last          time.Time // the mail of the oldest and of the newest vote
}

// Threads returns the number of votes.
func (e *Evidence) Threads() int { return e.Agreeing + e.Contradicting }

// Lower returns the lower bound of the precision; see [LowerBound].
func (e *Evidence) Lower() float64 { return LowerBound(e.Agreeing, e.Threads()) }

// Class returns how well the evidence proves the rule.
func (e *Evidence) Class() Class {
	switch {
	case e.Agreeing < lowThreads:
		return ClassNone
	case e.Days < fewestDays || e.Last.Sub(e.First) < fewestSpan:
		return ClassLow
	case e.Threads() >= highThreads && e.Last.Sub(e.First) >= highSpan && 10*e.HeldOutContradicting <= e.HeldOut &&
		e.Lower() >= highBound:
		return ClassHigh
	case e.Threads() >= mediumThreads && e.Contradicting == 0:
		return ClassMedium
	default:
		return ClassLow
	}
}
