package deciders

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/postroom-go/postroom"
)

// celDecider evaluates one program after the other, which is CEL's way of handling many rules.
type celDecider struct{ programs []cel.Program }

var _ Decider = (*celDecider)(nil)

// NewCEL makes a decider of CEL programs, which are compiled once, with their regular expressions.
func NewCEL(list []Rule) (Decider, error) {
	env, err := cel.NewEnv(
		cel.Variable("sender", cel.StringType), cel.Variable("sender_domain", cel.StringType),
		cel.Variable("subject", cel.StringType), cel.Variable("subject_lower", cel.StringType),
		cel.Variable("headers", cel.MapType(cel.StringType, cel.ListType(cel.StringType))),
		cel.Variable("labels", cel.ListType(cel.StringType)), cel.Variable("size", cel.IntType),
	)
	if err != nil {
		return nil, err
	}
	d := &celDecider{}
	for _, r := range list {
		ast, issues := env.Compile(r.CEL)
		if issues.Err() != nil {
			return nil, fmt.Errorf("compile %s: %w", r.CEL, issues.Err())
		}
		program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", r.CEL, err)
		}
		d.programs = append(d.programs, program)
	}
	return d, nil
}

func (d *celDecider) First(msg *postroom.Message) int {
	found := -1
	d.each(msg, func(i int) bool {
		found = i
		return false
	})
	return found
}

func (d *celDecider) All(msg *postroom.Message) []int {
	found := []int{}
	d.each(msg, func(i int) bool {
		found = append(found, i)
		return true
	})
	return found
}

// each calls yield with the rules that match until it returns false. The rules make no errors: a message has all
// variables.
func (d *celDecider) each(msg *postroom.Message, yield func(i int) bool) {
	vars := newActivation(msg)
	for i, program := range d.programs {
		if value, _, err := program.Eval(vars); err == nil && value == types.True && !yield(i) {
			return
		}
	}
}

// An activation has the variables of a message as values of CEL, so that nothing is converted when a program reads
// them. The headers, which not all rules read, are made when they are first read.
type activation struct {
	msg                                   *postroom.Message
	sender, domain, subject, subjectLower ref.Val
	labels, size                          ref.Val
	headers                               ref.Val
}

var _ cel.Activation = (*activation)(nil)

func newActivation(msg *postroom.Message) *activation {
	sender := strings.ToLower(msg.From.Email)
	return &activation{
		msg:    msg,
		sender: types.String(sender), domain: types.String(sender[strings.LastIndexByte(sender, '@')+1:]),
		subject: types.String(msg.Subject), subjectLower: types.String(strings.ToLower(msg.Subject)),
		labels: types.NewStringList(types.DefaultTypeAdapter, msg.LabelIDs), size: types.Int(msg.Size),
	}
}

// ResolveName implements [cel.Activation].
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "sender":
		return a.sender, true
	case "sender_domain":
		return a.domain, true
	case "subject":
		return a.subject, true
	case "subject_lower":
		return a.subjectLower, true
	case "labels":
		return a.labels, true
	case "size":
		return a.size, true
	case "headers":
		if a.headers == nil {
			a.headers = headersOf(a.msg)
		}
		return a.headers, true
	}
	return nil, false
}

// Parent implements [cel.Activation].
func (a *activation) Parent() cel.Activation { return nil }

func headersOf(msg *postroom.Message) ref.Val {
	values := map[string][]string{}
	for _, h := range msg.Headers {
		name := strings.ToLower(h.Name)
		values[name] = append(values[name], h.Value)
	}
	fields := make(map[ref.Val]ref.Val, len(values))
	for name, list := range values {
		fields[types.String(name)] = types.NewStringList(types.DefaultTypeAdapter, list)
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, fields)
}
