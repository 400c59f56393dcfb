package view

import (
	"fmt"
	"io"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// FailedTests counts the tests that have failed. One that depends on what its mail means has not.
func FailedTests(results []rulesfile.TestResult) int {
	failed, _ := countTests(results)
	return failed
}

func countTests(results []rulesfile.TestResult) (failed, undecided int) {
	for _, r := range results {
		switch {
		case len(r.Undecided) > 0:
			undecided++
		case !r.Passed():
			failed++
		}
	}
	return failed, undecided
}

// PrintRuleTests prints the results of the tests of a rules file.
func PrintRuleTests(out io.Writer, results []rulesfile.TestResult) error {
	for _, r := range results {
		if _, err := fmt.Fprintln(out, printer.PrintableLines(r.String())); err != nil {
			return err
		}
	}
	failed, undecided := countTests(results)
	open := printer.Unless(undecided == 0,
		fmt.Sprintf(", %d not decided, since tests do not say what mail means", undecided))
	_, err := fmt.Fprintf(out, "%d passed, %d failed%s\n", len(results)-failed-undecided, failed, open)
	return err
}

// RuleTests are the results of the tests of a rules file.
type RuleTests struct {
	Passed    int        `json:"passed"`
	Failed    int        `json:"failed"`
	Undecided int        `json:"undecided,omitempty"`
	Tests     []RuleTest `json:"tests"`
}

// A RuleTest is the result of one test.
type RuleTest struct {
	Name     string           `json:"name"`
	File     string           `json:"file"`
	Line     int              `json:"line"`
	Passed   bool             `json:"passed"`
	Rules    []string         `json:"rules"`
	Actions  []RuleTestAction `json:"actions"`
	Failures []string         `json:"failures,omitempty"`
	Reasons  []string         `json:"reasons,omitempty"`
	// Undecided are the rules that may match besides, by what the mail means: then the test has neither passed nor failed.
	Undecided []string `json:"undecided,omitempty"`
}

// A RuleTestAction is an action that a test expects, or that the rules have decided.
type RuleTestAction struct {
	Action     postroom.ActionType `json:"action"`
	Parameters postroom.Parameters `json:"parameters,omitempty"`
}

// NewRuleTests makes the view of the results of tests.
func NewRuleTests(results []rulesfile.TestResult) RuleTests {
	failed, undecided := countTests(results)
	return RuleTests{Passed: len(results) - failed - undecided, Failed: failed, Undecided: undecided,
		Tests: printer.List(results, func(r rulesfile.TestResult) RuleTest {
			v := RuleTest{
				Name: r.Test.Name, File: r.Test.File, Line: r.Test.Line, Rules: r.Matched,
				Passed: r.Passed() && len(r.Undecided) == 0, Actions: []RuleTestAction{},
				Failures: r.Failures, Reasons: r.Reasons, Undecided: r.Undecided,
			}
			for _, a := range r.Decided() {
				v.Actions = append(v.Actions, RuleTestAction{a.Type, a.Parameters})
			}
			return v
		})}
}
