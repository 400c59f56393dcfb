// Package joblimit implements limits, which are the same on every engine: the number of jobs that a claim may take
// under the limits of types and of limit keys, the state of a limit after the claim, and the time when a rate permits
// more.
//
// A claim reads the state of the limits in its transaction: [Usage]. Running jobs are counted, so that the end of a
// job, for any reason, releases its share of MaxRunning. A rate is never refunded. The claim takes jobs as long as
// their [Bounds] permit, reports its started jobs with [Usages.Start], and stores the rates that [Usages.Moved]
// returns. The driver does the reading, locking and writing.
package joblimit
