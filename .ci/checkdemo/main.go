// Checkdemo reads the JSON of a first and a second run of the demo on one folder and says what does not fit.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
)

type summary struct {
	Messages  int            `json:"messages"`
	New       int            `json:"new"`
	Actions   map[string]int `json:"actions"`
	Rules     map[string]int `json:"rules"`
	Approvals int            `json:"approvals"`
	Unmatched int            `json:"unmatched"`
	Drafts    int            `json:"drafts"`
	Broken    []struct {
		Index           int
		Subject, Reason string
	} `json:"broken"`
	Jobs    map[string]int `json:"jobs"`
	Seconds float64        `json:"seconds"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: checkdemo FIRST.json SECOND.json")
		os.Exit(2)
	}
	first, second := read(os.Args[1]), read(os.Args[2])
	faults := check(first, second)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, "checkdemo:", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d messages in %.1f s, %d waiting for approval, %d unmatched, %d broken; again: nothing twice\n",
		first.Messages, first.Seconds, first.Approvals, first.Unmatched, len(first.Broken))
}

func check(first, second summary) []string {
	var faults []string
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	expect(first.Messages >= 60, "%d messages; the sample mailbox has at least 60", first.Messages)
	expect(first.New == first.Messages, "%d of %d messages are new at the first run", first.New, first.Messages)
	expect(len(first.Actions) >= 5, "only %d kinds of action", len(first.Actions))
	expect(len(first.Rules) >= 5, "only %d rules matched", len(first.Rules))
	expect(first.Approvals > 0, "nothing waits for approval")
	expect(first.Drafts == 1, "%d drafts lie ready", first.Drafts)
	expect(first.Unmatched > 0, "nothing is unmatched")
	expect(first.Jobs["completed"] > first.Messages, "only %d jobs completed", first.Jobs["completed"])
	expect(first.Jobs["failed"] == len(first.Broken), "%d jobs failed and %d messages are broken", first.Jobs["failed"],
		len(first.Broken))
	expect(first.Jobs["queued"]+first.Jobs["running"] == 0, "jobs are left: %v", first.Jobs)
	expect(first.Seconds < 60, "it took %.1f s", first.Seconds)
	for _, b := range first.Broken {
		expect(b.Index > 0 && b.Reason != "", "a broken message without index or reason: %+v", b)
	}
	expect(second.New == 0, "the second run took in %d messages", second.New)
	second.New, second.Seconds, second.Jobs = first.New, first.Seconds, first.Jobs
	expect(reflect.DeepEqual(first, second), "the second run differs:\n%+v\n%+v", first, second)
	return faults
}

func read(path string) summary {
	var s summary
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "checkdemo: %s: %v\n", path, err)
		os.Exit(2)
	}
	return s
}
