package sieve

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Import translates a Sieve script (RFC 5228) into rules: each run of actions becomes one, under the tests around it,
// or several if its effect depends on other runs. A message that the script keeps or files is not thrown away by a
// discard elsewhere in it. FromSieve supports the base tests and actions, and of the extensions body, copy,
// currentdate, date, encoded-character, envelope, fileinto, imap4flags, index, regex, relational, subaddress, and the
// test string without variables. Folders become labels. The translation lists what rules cannot express. An action
// that depends on an untranslatable test is omitted, and the commands after a stop that depends on one only mark the
// message. The kinds are the actions that rules may have; nil means those that package gmail carries out. A script
// that breaks the grammar is an error with the line.
func Import(script string, kinds *postroom.Kinds) (*rulesfile.Translation, error) {
	if len(script) > rulesfile.MaxFileSize {
		return nil, fmt.Errorf("the Sieve script is larger than %d bytes", rulesfile.MaxFileSize)
	}
	commands, err := parseSieve(script)
	if err != nil {
		return nil, fmt.Errorf("read the Sieve script: %w", err)
	}
	if requires(commands, "encoded-character") {
		decodeCharacters(commands)
	}
	s := &importer{translation: rulesfile.NewTranslation(), kinds: kinds, marked: map[*execution][]outcome{}}
	if err := s.translate(commands); err != nil {
		return nil, fmt.Errorf("translate the Sieve script: %w", err)
	}
	return s.translation, nil
}

// maxRules bounds the number of rules from a script of nested elsifs.
const maxRules = 10_000

// An importer makes rules of a script: first the runs, then their effects on each other, then the rules.
type importer struct {
	translation *rulesfile.Translation
	kinds       *postroom.Kinds

	runs         []*execution
	chains       int
	terms, steps int // see maxTerms

	marked map[*execution][]outcome
}

func (s *importer) translate(commands []command) error {
	if err := s.block(commands, nil, ""); err != nil {
		return err
	}
	s.marks()
	s.terms, s.steps = 0, 0
	for _, r := range s.runs {
		if err := s.rules(r); err != nil {
			return err
		}
	}
	return nil
}

// block reads commands in the blocks around them. If the tests of these cannot be translated, unknown says why.
func (s *importer) block(commands []command, path []step, unknown string) error {
	var run *execution
	for i := 0; i < len(commands); i++ {
		c := &commands[i]
		switch c.name {
		case "require":
			continue
		case "if":
			run = nil
			chain := 1
			for i+chain < len(commands) && (commands[i+chain].name == "elsif" || commands[i+chain].name == "else") {
				chain++
			}
			if err := s.branches(commands[i:i+chain], path, unknown); err != nil {
				return err
			}
			i += chain - 1
			continue
		case "elsif", "else":
			return &syntaxError{c.line, c.name + " stands behind no if"}
		}
		if run == nil {
			if len(s.runs) == maxRules {
				return errTooManyRules
			}
			run = &execution{at: len(s.runs), path: path, unknown: unknown}
			s.runs = append(s.runs, run)
		}
		if run.add(c); run.stop {
			return nil // the rest is unreachable
		}
	}
	return nil
}

// maxDepth is the depth of the script's tests in the conditions of its rules.
const maxDepth = 10

var errTooManyRules = fmt.Errorf("it becomes more than %d rules", maxRules)

// branches reads an if with its elsifs and else: each branch under its test, and under the negations of those before.
func (s *importer) branches(chain []command, path []step, unknown string) error {
	s.chains++
	number := s.chains
	var before []rules.Condition
	for i := range chain {
		c := &chain[i]
		if c.block == nil || (c.name == "else") != (len(c.tests) == 0) || len(c.tests) > 1 || c.name == "else" &&
			i < len(chain)-1 {
			return &syntaxError{c.line, c.name + " is not written as the grammar has it: if TEST { … }"}
		}
		step := step{number, i, slices.Clone(before)}
		if c.name != "else" {
			condition, why := testOf(&c.tests[0])
			unknown = cmp.Or(unknown, why)
			step.tests, before = append(step.tests, condition), append(before, opposite(condition))
		}
		if err := s.block(c.block, append(slices.Clone(path), step), unknown); err != nil {
			return err
		}
	}
	return nil
}

// testOf translates a test. If it has no condition, why is the reason.
func testOf(test *command) (condition rules.Condition, why string) {
	condition, err := conditionOf(test)
	if err == nil {
		err = condition.Validate()
	}
	if err == nil && depthOf(&condition) > rules.MaxDepth-maxDepth {
		err = rules.ErrTooDeep
	}
	if err != nil {
		return unknownCondition, strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return condition, ""
}

// sure says when no stop that is not translated comes before the run.
func (s *importer) sure(r *execution) rules.Condition {
	var stops []rules.Condition
	for _, x := range s.runs[:r.at] {
		s.steps++
		if x.stop && x.unknown != "" {
			stops = append(stops, x.amid(r, nil))
		}
	}
	return opposite(bound(anyOf(stops...), true))
}

// An outcome is one of the outcomes of a run, under a formula.
type outcome struct {
	when    rules.Condition
	actions []rules.RuleAction
}

// outcomes returns the outcomes of the run for the message: it leaves the inbox unless the script keeps it, and
// is thrown away unless the script keeps or files it (RFC 5228, section 4.4). They exclude each other.
func (s *importer) outcomes(r *execution) []outcome {
	if !r.filed && !r.discard && !r.trash && !r.copies {
		return nil
	}
	sure, kept := s.sure(r), s.others(r, func(x *execution) bool { return x.keep })
	if r.keep {
		kept = trueCondition
	}
	if !isCertain(sure) {
		r.note("a stop before it has no condition: where it may come, this only marks the message")
	}
	leaves := allOf(sure, opposite(bound(kept, true)))
	if len(r.labels) > 0 || r.filed {
		if hasUnknown(kept) {
			r.note("whether the script keeps it as well cannot be told: then it stays in the inbox")
		}
		if len(r.labels) == 0 {
			return nil
		}
		return []outcome{{leaves, r.filing(r.labels, true)}, {opposite(leaves), r.filing(r.labels, false)}}
	}
	if !r.discard && !r.trash {
		return nil
	}
	filed, copied := s.others(r, func(x *execution) bool {
		return x.filed
	}), s.others(r, func(x *execution) bool { return x.copies })
	if r.copies {
		copied = trueCondition
	}
	if hasUnknown(anyOf(kept, filed, copied)) {
		r.note("whether the script keeps or files it as well cannot be told: then it is not thrown away")
	}
	gone := allOf(leaves, opposite(bound(anyOf(filed, copied), true)))
	if r.discard && !isImpossible(gone) {
		r.note("what is discarded goes to the trash, where it can be found again")
	}
	archived := allOf(leaves, bound(copied, false))
	return []outcome{{gone, []rules.RuleAction{{Type: postroom.Trash}}},
		{archived, []rules.RuleAction{{Type: postroom.Archive}}}}
}

// rules makes the rules of a run.
func (s *importer) rules(r *execution) error {
	of := fmt.Sprintf("line %d", r.line)
	leaveOut := func(what string) {
		s.translation.Untranslated = append(s.translation.Untranslated,
			rulesfile.Untranslated{Of: of, What: what, Left: rulesfile.Skipped})
	}
	if r.unknown != "" {
		if r.stop {
			r.unknown += "; what it stops at goes on to the rules after it, which then only mark the message"
		}
		leaveOut(r.unknown)
		return nil
	}
	condition := allOf(r.tests(0)...)
	if isCertain(condition) {
		condition = always()
	}
	var always []rules.RuleAction
	split := func(outcomes []outcome) (sometimes []outcome) {
		for _, o := range outcomes {
			o.actions = s.possible(r, o.actions)
			switch {
			case len(o.actions) == 0 || isImpossible(o.when):
			case isCertain(o.when):
				always = append(always, o.actions...)
			default:
				sometimes = append(sometimes, o)
			}
		}
		return sometimes
	}
	sometimes := split(s.outcomes(r))
	always = append(always, s.possible(r, r.filing(r.copied, false))...)
	for _, o := range split(s.marked[r]) {
		if err := s.emit(of, allOf(condition, o.when), o.actions, false, nil); err != nil {
			return err
		}
	}
	always = append(always, s.possible(r, s.forwards(r))...)
	if len(sometimes) == 0 && len(always) == 0 && !r.keep && !r.stop && len(r.lost) > 0 {
		leaveOut(strings.Join(r.lost, "; "))
		return nil
	}
	return s.emitRun(of, r, condition, sometimes, always)
}

// forwards are the redirects of the run.
func (s *importer) forwards(r *execution) (list []rules.RuleAction) {
	if len(r.forward) > 0 && !isCertain(s.sure(r)) {
		r.lost = append(r.lost, "redirect: a stop before it has no condition")
		return nil
	}
	for _, to := range r.forward {
		list = append(list, rules.RuleAction{Type: postroom.Forward, Parameters: postroom.Parameters{"to": to}})
	}
	return list
}

// possible returns the actions that rules may have.
func (s *importer) possible(r *execution, actions []rules.RuleAction) []rules.RuleAction {
	return slices.DeleteFunc(actions, func(a rules.RuleAction) bool {
		err := translate.Translatable(a, s.kinds)
		if err != nil && !slices.Contains(r.lost, err.Error()) {
			r.lost = append(r.lost, err.Error())
		}
		return err != nil
	})
}

// emitRun makes a rule for each outcome of a run, and one for the actions of all outcomes. A run that stops does so
// in all of them.
func (s *importer) emitRun(of string, r *execution, condition rules.Condition, sometimes []outcome,
	always []rules.RuleAction) error {
	notes := r.notes(of)
	emit := func(when rules.Condition, actions []rules.RuleAction) error {
		err := s.emit(of, when, actions, r.stop, notes)
		notes = nil
		return err
	}
	if n := len(sometimes); r.stop && n == 2 && reflect.DeepEqual(sometimes[1].when, opposite(sometimes[0].when)) {
		always, sometimes = append(sometimes[1].actions, always...), sometimes[:1]
	}
	for _, o := range sometimes {
		if r.stop {
			o.actions = append(o.actions, always...)
		}
		if err := emit(allOf(condition, o.when), o.actions); err != nil {
			return err
		}
	}
	if len(always) == 0 && (r.stop || r.keep) {
		always = []rules.RuleAction{{Type: postroom.None}}
	}
	if len(always) > 0 {
		return emit(condition, always)
	}
	if len(sometimes) == 0 {
		for i := range notes {
			notes[i].Left = rulesfile.Skipped
		}
	}
	s.translation.Untranslated = append(s.translation.Untranslated, notes...)
	return nil
}

func (r *execution) notes(of string) (notes []rulesfile.Untranslated) {
	for _, what := range r.lost {
		notes = append(notes, rulesfile.Untranslated{Of: of, What: what, Left: rulesfile.Partial})
	}
	for _, what := range r.near {
		notes = append(notes, rulesfile.Untranslated{Of: of, What: what, Left: rulesfile.Approximate})
	}
	return notes
}

// emit adds a rule.
func (s *importer) emit(of string, condition rules.Condition, actions []rules.RuleAction, stop bool,
	notes []rulesfile.Untranslated) error {
	if len(s.translation.File.Rules) == maxRules {
		return errTooManyRules
	}
	if isCertain(condition) {
		condition = always()
	}
	if err := condition.Validate(); err != nil {
		s.translation.Untranslated = append(s.translation.Untranslated,
			rulesfile.Untranslated{Of: of, What: strings.ReplaceAll(err.Error(), "\n", "; "), Left: rulesfile.Skipped})
		return nil
	}
	rule := rules.NewRule(of+": "+condition.String(), condition, "", nil)
	translate.SetActions(&rule, translate.WithParameters(slices.Clone(actions)))
	rule.Continue = !stop
	for _, a := range actions {
		if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
			s.translation.NeedLabel(label)
		}
	}
	s.translation.Add(rule, notes)
	return nil
}
