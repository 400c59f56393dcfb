package agent

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/llm"
)

// A Profile describes what an agent is for and what it may do. Its name is in the payloads of jobs.
type Profile struct {
	// Name has lower-case letters, digits and underscores, and begins with a letter; at most 50. Required.
	Name string
	// Model names one of [Config].Clients. Required.
	Model string
	// Instructions are the owner's words to the model; at most 8000 bytes. Required.
	Instructions string
	// Tools are the tools that the model may call. Default: none.
	Tools []string
	// Outcomes are the ways in which a run may end. [OutcomeNone] is always among them.
	Outcomes []Outcome
	// Limits bound the runs.
	Limits Limits
	// Version identifies the content of the file that the profile was read from; it goes on record. Default empty.
	Version string
}

// Limits bound the runs of a profile. The zero Limits use the defaults.
type Limits struct {
	// ModelCalls and ToolCalls bound the calls of a run. Default 8 and 12; at most 100.
	ModelCalls, ToolCalls int
	// EqualCalls is how often a run may call one tool with equal arguments. Default 3; at most 100.
	EqualCalls int
	// CallTime bounds one call of the model or a tool. Default 60 s; at most 10 minutes.
	CallTime time.Duration
	// RunTime bounds all calls of a run together. The time for which a job waits does not count. Default 5 minutes; at
	// most an hour.
	RunTime time.Duration
	// Tokens bounds the tokens of a run, input and output. A call that could exceed it, by an estimate of its size, is not
	// made. Default 30,000; at most 10 million.
	Tokens int
	// Cost bounds the cost of a run: it ends before the next call once the cost is reached. Only clients that know their
	// price count, as llm.Metered does. Default $0.05; at most $100.
	Cost llm.Money
	// RunsADay is how many runs a mailbox has within 24 hours, and RunsAThread how many a thread has. Default 30 and 2;
	// at most 10,000.
	RunsADay, RunsAThread int
	// Failures is the number of failed runs in a row that pauses the profile. Default 3; at most 1000.
	Failures int
}

// withDefaults replaces zeros by the defaults.
func (l Limits) withDefaults() Limits {
	return Limits{
		ModelCalls: cmp.Or(l.ModelCalls, 8), ToolCalls: cmp.Or(l.ToolCalls, 12), EqualCalls: cmp.Or(l.EqualCalls, 3),
		CallTime: cmp.Or(l.CallTime, time.Minute), RunTime: cmp.Or(l.RunTime, 5*time.Minute),
		Tokens: cmp.Or(l.Tokens, 30_000), Cost: cmp.Or(l.Cost, llm.Dollar/20),
		RunsADay: cmp.Or(l.RunsADay, 30), RunsAThread: cmp.Or(l.RunsAThread, 2), Failures: cmp.Or(l.Failures, 3),
	}
}

// A fault is what is wrong with a key of a profile. The key is that of the file, such as limits.tokens.
type fault struct{ key, message, hint string }

// check returns the faults of limits that have their defaults.
func (l Limits) check() (faults []fault) {
	within := func(key string, value, most int64, written func(int64) string) {
		if value < 1 || value > most {
			faults = append(faults, fault{"limits." + key, fmt.Sprintf("%s is %s", key, written(value)),
				fmt.Sprintf("write more than 0 and at most %s, or leave it out for the default", written(most))})
		}
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	span := func(n int64) string { return time.Duration(n).String() }
	within("model_calls", int64(l.ModelCalls), 100, number)
	within("tool_calls", int64(l.ToolCalls), 100, number)
	within("equal_calls", int64(l.EqualCalls), 100, number)
	within("call_time", int64(l.CallTime), int64(10*time.Minute), span)
	within("run_time", int64(l.RunTime), int64(time.Hour), span)
	within("tokens", int64(l.Tokens), 10_000_000, number)
	within("cost", int64(l.Cost), int64(100*llm.Dollar), func(n int64) string { return llm.Money(n).String() })
	within("runs_a_day", int64(l.RunsADay), 10_000, number)
	within("runs_a_thread", int64(l.RunsAThread), 10_000, number)
	within("failures", int64(l.Failures), 1000, number)
	return faults
}

var profileName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)

// maxInstructions bounds the owner's words, in bytes.
const maxInstructions = 8000

// check returns the faults of a profile whose limits have their defaults.
func (p *Profile) check() []fault {
	faults := p.Limits.check()
	if !profileName.MatchString(p.Name) {
		faults = append(faults, fault{"name", fmt.Sprintf("the name %q is not one", p.Name),
			"write lower-case letters, digits and underscores, a letter first, at most 50"})
	}
	if strings.TrimSpace(p.Model) == "" {
		faults = append(faults, fault{"model", "there is no model", "write model: and the name of one"})
	}
	switch {
	case strings.TrimSpace(p.Instructions) == "":
		faults = append(faults, fault{"instructions", "there are no instructions", "write what the agent is to do"})
	case len(p.Instructions) > maxInstructions:
		faults = append(faults, fault{"instructions", fmt.Sprintf("the instructions have %d bytes", len(p.Instructions)),
			fmt.Sprintf("write at most %d", maxInstructions)})
	}
	for i, name := range p.Tools {
		if slices.Contains(p.Tools[:i], name) {
			faults = append(faults, fault{fmt.Sprintf("tools[%d]", i),
				fmt.Sprintf("the tool %q is listed twice", name), "remove one"})
		}
	}
	for i, o := range p.Outcomes {
		if _, ok := endings[o]; !ok {
			faults = append(faults, fault{fmt.Sprintf("outcomes[%d]", i), fmt.Sprintf("unknown outcome %q", string(o)),
				"the outcomes are " + join(Outcomes())})
		}
		if slices.Contains(p.Outcomes[:i], o) {
			faults = append(faults, fault{fmt.Sprintf("outcomes[%d]", i),
				fmt.Sprintf("the outcome %s is listed twice", o), "remove one"})
		}
	}
	return faults
}

// checked returns the profile with its defaults, or an error with all its faults.
func (p Profile) checked() (Profile, error) {
	p.Limits = p.Limits.withDefaults()
	var faults []error
	for _, f := range p.check() {
		faults = append(faults, fmt.Errorf("llm/agent: profile %q: %s; %s", p.Name, f.message, f.hint))
	}
	p.Tools = slices.Clone(p.Tools)
	p.Outcomes = slices.Clone(p.Outcomes)
	if !slices.Contains(p.Outcomes, OutcomeNone) {
		p.Outcomes = append(p.Outcomes, OutcomeNone)
	}
	return p, errors.Join(faults...)
}

// join lists names for people.
func join[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
