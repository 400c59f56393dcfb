package view

import (
	"fmt"
	"io"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// FailedTests counts the tests that have failed.
func FailedTests(results []rulesfile.TestResult) int {
	failed := 0
	for _, r := range results {
		if !r.Passed() {
			failed++
		}
	}
	return failed
}

// PrintRuleTests prints the results of the tests of a rules file.
func PrintRuleTests(out io.Writer, results []rulesfile.TestResult) error {
	for _, r := range results {
		if _, err := fmt.Fprintln(out, printer.PrintableLines(r.String())); err != nil {
			return err
		}
	}
	failed := FailedTests(results)
	_, err := fmt.Fprintf(out, "%d passed, %d failed\n", len(results)-failed, failed)
	return err
}

// RuleTests are the results of the tests of a rules file.
type RuleTests struct {
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Tests  []RuleTest `json:"tests"`
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
}

// A RuleTestAction is an action that a test expects, or that the rules have decided.
type RuleTestAction struct {
	Action     postroom.ActionType `json:"action"`
	Parameters postroom.Parameters `json:"parameters,omitempty"`
}

// NewRuleTests makes the view of the results of tests.
func NewRuleTests(results []rulesfile.TestResult) RuleTests {
	failed := FailedTests(results)
	return RuleTests{Passed: len(results) - failed, Failed: failed,
		Tests: printer.List(results, func(r rulesfile.TestResult) RuleTest {
			v := RuleTest{
				Name: r.Test.Name, File: r.Test.File, Line: r.Test.Line, Passed: r.Passed(), Rules: r.Matched,
				Actions:  []RuleTestAction{},
				Failures: r.Failures, Reasons: r.Reasons,
			}
			for _, a := range r.Decided() {
				v.Actions = append(v.Actions, RuleTestAction{a.Type, a.Parameters})
			}
			return v
		})}
}
