package main

import (
	"fmt"
	"io"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules"
)

func failedTests(results []rules.TestResult) int {
	failed := 0
	for _, r := range results {
		if !r.Passed() {
			failed++
		}
	}
	return failed
}

func printTests(out io.Writer, results []rules.TestResult) error {
	for _, r := range results {
		if _, err := fmt.Fprintln(out, printer.PrintableLines(r.String())); err != nil {
			return err
		}
	}
	failed := failedTests(results)
	_, err := fmt.Fprintf(out, "%d passed, %d failed\n", len(results)-failed, failed)
	return err
}

type testsView struct {
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Tests  []testView `json:"tests"`
}

type testView struct {
	Name     string           `json:"name"`
	File     string           `json:"file"`
	Line     int              `json:"line"`
	Passed   bool             `json:"passed"`
	Rules    []string         `json:"rules"`
	Actions  []testActionView `json:"actions"`
	Failures []string         `json:"failures,omitempty"`
	Reasons  []string         `json:"reasons,omitempty"`
}

type testActionView struct {
	Action     postroom.ActionType `json:"action"`
	Parameters postroom.Parameters `json:"parameters,omitempty"`
}

func viewTests(results []rules.TestResult) testsView {
	failed := failedTests(results)
	return testsView{Passed: len(results) - failed, Failed: failed, Tests: printer.List(results, func(r rules.TestResult) testView {
		v := testView{
			Name: r.Test.Name, File: r.Test.File, Line: r.Test.Line, Passed: r.Passed(), Rules: r.Matched, Actions: []testActionView{},
			Failures: r.Failures, Reasons: r.Reasons,
		}
		for _, a := range r.Decided() {
			v.Actions = append(v.Actions, testActionView{a.Type, a.Parameters})
		}
		return v
	})}
}
