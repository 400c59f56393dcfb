package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
)

// FromSieve translates a Sieve script (RFC 5228) into rules: each run of actions becomes one, under the tests around it. It knows the
// base tests and actions, and of the extensions body, copy, currentdate, date, encoded-character, envelope, fileinto, imap4flags, index, regex,
// relational, subaddress, and the test string without variables. Folders become labels. What rules cannot say is in the list of the translation; an action that depends on a test that
// cannot be translated is left out. The kinds are the actions that rules may have; nil stands for those that package gmail carries
// out. A script that breaks the grammar is an error with the line.
func FromSieve(script string, kinds *postroom.Kinds) (*Translation, error) {
	if len(script) > maxFileSize {
		return nil, fmt.Errorf("the Sieve script is larger than %d bytes", maxFileSize)
	}
	commands, err := parseSieve(script)
	if err != nil {
		return nil, fmt.Errorf("read the Sieve script: %w", err)
	}
	if requires(commands, "encoded-character") {
		decodeCharacters(commands)
	}
	s := &sieveImport{translation: newTranslation(), kinds: kinds}
	if err := s.block(commands, nil, ""); err != nil {
		return nil, fmt.Errorf("translate the Sieve script: %w", err)
	}
	return s.translation, nil
}

// maxSieveRules bounds what a script of elsifs within each other becomes.
const maxSieveRules = 10_000

// A sieveImport makes rules of a script.
type sieveImport struct {
	translation *Translation
	kinds       *postroom.Kinds
}

// A sieveRun is actions in a row.
type sieveRun struct {
	line    int
	labels  []string
	copied  []string // of fileinto :copy
	flags   []RuleAction
	forward []string
	keep    bool
	discard bool
	stop    bool
	lost    []string
	near    []string // what is nearly the same
	some    bool
}

// block translates commands under the conditions of the blocks around them. If these cannot be translated, unknown says why.
func (s *sieveImport) block(commands []sieveCommand, path []Condition, unknown string) error {
	run := &sieveRun{}
	end := func() error {
		r := run
		run = &sieveRun{}
		return s.rule(r, path, unknown)
	}
	for i := 0; i < len(commands); i++ {
		c := &commands[i]
		switch c.name {
		case "require":
			continue
		case "if":
			if err := end(); err != nil {
				return err
			}
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
			return &sieveError{c.line, c.name + " stands behind no if"}
		}
		run.add(c)
		if run.stop {
			return end() // what follows is never reached
		}
	}
	return end()
}

// branches translates an if with what follows it: each branch under its test, and under the opposites of those before.
func (s *sieveImport) branches(chain []sieveCommand, path []Condition, unknown string) error {
	path = slices.Clone(path)
	for i := range chain {
		c := &chain[i]
		if c.block == nil || (c.name == "else") != (len(c.tests) == 0) || len(c.tests) > 1 || c.name == "else" && i < len(chain)-1 {
			return &sieveError{c.line, c.name + " is not written as the grammar has it: if TEST { … }"}
		}
		inner := slices.Clone(path)
		if c.name != "else" {
			condition, err := sieveCondition(&c.tests[0])
			if err != nil && unknown == "" {
				unknown = err.Error()
			}
			inner, path = append(inner, condition), append(path, NoneOf(condition))
		}
		if err := s.block(c.block, inner, unknown); err != nil {
			return err
		}
	}
	return nil
}

// add takes one action into the run.
func (r *sieveRun) add(c *sieveCommand) {
	if !r.some {
		r.line, r.some = c.line, true
	}
	tagged := func(name string) bool {
		return slices.ContainsFunc(c.tags, func(t sieveTag) bool { return t.name == name })
	}
	args := c.args
	if tagged("flags") && len(args) > 0 { // the flags stand behind their tag, which is written first
		r.addFlags(args[0], true)
		args = args[1:]
	}
	one := ""
	if len(args) == 1 && len(args[0]) == 1 {
		one = args[0][0]
	}
	switch {
	case hasVariable(one):
		r.lost = append(r.lost, c.name+" with variables")
	case c.name == "keep":
		r.keep = true
	case c.name == "discard":
		r.discard = true
	case c.name == "stop":
		r.stop = true
	case c.name == "fileinto" && one != "" && tagged("copy"):
		r.copied = append(r.copied, one)
	case c.name == "fileinto" && one != "":
		r.labels = append(r.labels, one)
	case c.name == "redirect" && one != "":
		r.forward = append(r.forward, one)
		if !tagged("copy") {
			r.near = append(r.near, "the forwarded message also stays in the mailbox")
		}
	case (c.name == "addflag" || c.name == "setflag" || c.name == "removeflag") && len(args) == 1:
		r.addFlags(args[0], c.name != "removeflag")
	default:
		r.lost = append(r.lost, "the command "+c.name)
	}
}

// addFlags translates flags of IMAP (RFC 5232); several may stand in one string.
func (r *sieveRun) addFlags(flags []string, set bool) {
	known := map[string][2]postroom.ActionType{
		`\seen`: {postroom.MarkRead, postroom.MarkUnread}, `\flagged`: {postroom.Star, postroom.Unstar}, `\deleted`: {postroom.Trash, postroom.Restore},
	}
	for flag := range strings.FieldsSeq(strings.Join(flags, " ")) {
		actions, ok := known[strings.ToLower(flag)]
		switch {
		case !ok:
			r.lost = append(r.lost, "the flag "+flag)
		case set:
			r.flags = append(r.flags, RuleAction{Type: actions[0]})
		default:
			r.flags = append(r.flags, RuleAction{Type: actions[1]})
		}
	}
}

// folders are the names of folders that are no labels at Gmail.
var folders = map[string]postroom.ActionType{
	"inbox": postroom.None, "trash": postroom.Trash, "deleted items": postroom.Trash, "deleted messages": postroom.Trash, "archive": postroom.Archive, "archives": postroom.Archive,
}

// actions returns what the run does: a message that is filed and not kept leaves the inbox.
func (r *sieveRun) actions() []RuleAction {
	var list []RuleAction
	file := func(folder string, kept bool) {
		name := strings.TrimPrefix(strings.TrimPrefix(folder, "INBOX."), "INBOX/")
		action, special := folders[strings.ToLower(name)]
		switch {
		case special && (action == postroom.None || kept):
		case special:
			list = append(list, RuleAction{Type: action})
		case strings.EqualFold(name, "spam") || strings.EqualFold(name, "junk"):
			r.lost = append(r.lost, "filing into the folder "+folder+": rules do not send mail to the spam")
		case kept:
			list = append(list, labelAction(postroom.ApplyLabel, name))
		default:
			list = append(list, labelAction(postroom.Move, name))
		}
	}
	for _, folder := range r.labels {
		file(folder, r.keep || slices.ContainsFunc(r.labels, func(f string) bool { return strings.EqualFold(f, "INBOX") }))
	}
	for _, folder := range r.copied {
		file(folder, true)
	}
	list = append(list, r.flags...)
	for _, to := range r.forward {
		list = append(list, RuleAction{postroom.Forward, postroom.Parameters{"to": to}})
	}
	if r.discard && len(r.labels) == 0 && !r.keep {
		list = append(list, RuleAction{Type: postroom.Trash})
		r.near = append(r.near, "what is discarded goes to the trash, where it can be found again")
	}
	if len(list) == 0 && (r.keep || r.stop || len(r.labels) > 0) {
		list = append(list, RuleAction{Type: postroom.None})
	}
	return list
}

// rule makes a rule of a run.
func (s *sieveImport) rule(r *sieveRun, path []Condition, unknown string) error {
	if !r.some {
		return nil
	}
	if len(s.translation.File.Rules) == maxSieveRules {
		return fmt.Errorf("it becomes more than %d rules", maxSieveRules)
	}
	of := fmt.Sprintf("line %d", r.line)
	leaveOut := func(what string) {
		if r.stop {
			what += "; what it stops at goes on to the rules after it"
		}
		s.translation.Untranslated = append(s.translation.Untranslated, Untranslated{of, what, LeftOut})
	}
	if unknown != "" {
		leaveOut(unknown)
		return nil
	}
	actions := slices.DeleteFunc(r.actions(), func(a RuleAction) bool {
		err := a.translatable(s.kinds)
		if err != nil {
			r.lost = append(r.lost, err.Error())
		}
		return err != nil
	})
	if len(actions) == 0 {
		leaveOut(strings.Join(r.lost, "; "))
		return nil
	}
	condition := always()
	if len(path) > 0 {
		condition = joined(And, path)
	}
	if err := condition.Validate(); err != nil {
		leaveOut(strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	rule := NewRule(of+": "+condition.String(), condition, "", nil)
	rule.setActions(withParameters(actions))
	rule.Continue = !r.stop
	var lost []Untranslated
	for _, what := range r.lost {
		lost = append(lost, Untranslated{of, what, Partly})
	}
	for _, what := range r.near {
		lost = append(lost, Untranslated{of, what, Nearly})
	}
	for _, a := range actions {
		if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
			s.translation.needLabel(label)
		}
	}
	s.translation.add(rule, lost)
	return nil
}

// withParameters gives each action parameters that are not nil, as those of files are.
func withParameters(actions []RuleAction) []RuleAction {
	for i := range actions {
		if actions[i].Parameters == nil {
			actions[i].Parameters = postroom.Parameters{}
		}
	}
	return actions
}
