package driver

import "context"

// A Severity is the severity of a [Finding].
type Severity string

// The severities.
const (
	SeverityOK      Severity = "ok"      // as it should be
	SeverityWarning Severity = "warning" // worth a look
	SeverityProblem Severity = "problem" // something does not work
)

// A Finding is one result of a health check.
type Finding struct {
	Severity Severity
	Text     string // what was found
	Hint     string // what to do; empty if there is nothing to do
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
	// CheckHealth checks the database. It takes seconds at most, and leaves nothing written.
	CheckHealth(ctx context.Context) ([]Finding, error)
}
