package driver

import "context"

// A Severity is how much a [Finding] matters.
type Severity string

// The severities.
const (
	SeverityOK      Severity = "ok"      // as it should be
	SeverityWarning Severity = "warning" // worth a look
	SeverityProblem Severity = "problem" // something does not work
)

// A Finding is one thing that a health check has looked at.
type Finding struct {
	Severity Severity
	Text     string // what was found
	Hint     string // what to do; empty when there is nothing to do
}

// String formats the severity, the text and the hint.
func (f Finding) String() string {
	s := string(f.Severity) + ": " + f.Text
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// A HealthChecker is a [Driver] that can report the state of its engine.
type HealthChecker interface {
	// CheckHealth looks at the database, for seconds at most, and only reads.
	CheckHealth(ctx context.Context) ([]Finding, error)
}
