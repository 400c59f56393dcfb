// Package joblimit has the rules of limits, which are the same on every engine: what a claim may take under the limits of types
// and of limit keys, how a limit stands after it, and when a rate allows more.
//
// A claim reads how the limits stand, in the transaction that claims: [Standing]. What runs is counted among the jobs, so that a
// job's end, however it comes about, gives back what it used of MaxRunning. A start is never given back to a rate. The claim
// takes jobs as long as their [Bounds] allow, reports with [Standings.Start] what it started, and stores the rates that
// [Standings.Moved] returns. Reading, locking and writing are the driver's.
package joblimit
