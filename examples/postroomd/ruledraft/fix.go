package ruledraft

import (
	"reflect"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Does returns the action of an order. One that a draft cannot follow is a [usage.Error].
func (o Order) Does() (rules.RuleAction, error) {
	_, params, err := o.does()
	return rules.RuleAction{Type: o.Action, Parameters: params}, err
}

// Change returns the rule with the action of the order in place of its own, for all mail that it takes.
func Change(r rules.Rule, o Order) (rules.Rule, error) {
	does, err := o.Does()
	if err != nil {
		return r, err
	}
	if len(r.Also) == 0 && r.Action == does.Type && sameParameters(r.Parameters, does.Parameters) {
		return r, usage.Errorf("The rule %q does that already.", r.Name)
	}
	r.Action, r.Parameters, r.Also = does.Type, does.Parameters, nil
	if len(does.Parameters) == 0 { // it has no label that it could begin with
		r.Schedule.LabelOnlyUntil = ""
		if reflect.DeepEqual(r.Schedule, rules.Schedule{Zone: r.Schedule.Zone}) {
			r.Schedule = rules.Schedule{}
		}
	}
	return r, nil
}

func sameParameters(a, b postroom.Parameters) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// Except returns the rule without the mail that is like the message, with the condition that such mail meets. If the
// sender of the message is verified, only mail of verified senders is: nobody gets past the rule by a name. A rule that
// is about such mail alone is a [usage.Error].
func Except(r rules.Rule, m *postroom.Message, about About) (rules.Rule, rules.Condition, error) {
	like, err := about.source(m)
	if err != nil {
		return r, like, err
	}
	if onlyAbout(&r, like) {
		return r, like, usage.Errorf("The rule %q is about mail of %s alone, and would have none left: change what it "+
			"does, or disable it.", r.Name, like.Value)
	}
	proved, err := verified(m)
	if err != nil {
		return r, like, err
	}
	left := like
	if proved {
		left = rules.AllOf(like, rules.Condition{Type: rules.Authenticated})
	}
	exception, proves := rules.NoneOf(left), r.RequiresAuthentication()
	if r.Condition.Op == rules.And {
		there := func(c rules.Condition) bool { return reflect.DeepEqual(c, exception) }
		if slices.ContainsFunc(r.Condition.Children, there) {
			return r, like, usage.Errorf("The rule %q leaves mail of %s alone already.", r.Name, like.Value)
		}
		r.Condition = rules.AllOf(append(slices.Clone(r.Condition.Children), exception)...)
	} else {
		r.Condition = rules.AllOf(r.Condition, exception)
	}
	if !proves && r.RequiresAuthentication() { // it goes by a sender now, and still takes what it took
		r.Authentication = rules.AuthenticationNotRequired
	}
	return r, like, nil
}

// onlyAbout reports whether all mail that a rule takes meets the condition.
func onlyAbout(r *rules.Rule, like rules.Condition) bool {
	switch {
	case r.Scope == rules.ScopeSender && like.Type == rules.SenderEmail,
		r.Scope == rules.ScopeDomain && like.Type == rules.SenderDomain:
		return r.ScopeRef == like.Value
	}
	alone := []rules.Condition{r.Condition}
	if r.Condition.Op == rules.And {
		alone = r.Condition.Children
	}
	return slices.ContainsFunc(alone, func(c rules.Condition) bool {
		return c.Type == like.Type && c.Value == like.Value && len(c.Values) == 0 && (c.Match == "" || c.Match == rules.Is)
	})
}

// includes reports whether all of some actions are among others.
func includes(all, some []rules.RuleAction) bool {
	return !slices.ContainsFunc(some, func(a rules.RuleAction) bool {
		return !slices.ContainsFunc(all, func(b rules.RuleAction) bool {
			return a.Type == b.Type && sameParameters(a.Parameters, b.Parameters)
		})
	})
}

// An Expectation is what a person says that the rules must do about a message.
type Expectation struct {
	Mark // Right is not read
	// Account is the mailbox of the message as rules of one mailbox name it; empty without such.
	Account string
	// Now is when it was decided about; zero: as it came.
	Now time.Time
	// Actions are done, in their order, or among others if the rules do so; nil: any. Without is a rule that must not have
	// the message; empty: none.
	Actions []rules.RuleAction
	Without string
}

// Expect returns the file with a test of the expectation, and the test, which may fail. It has what the rules that have
// the message read of it, and more only if they would not have it otherwise. The test of an earlier expectation about
// the message is replaced.
func Expect(
	file *rulesfile.File, e Expectation, kinds *postroom.Kinds, options ...rulesfile.ParseOption,
) (*rulesfile.File, rulesfile.Test, error) {
	t, err := e.test("Fix", e.Account)
	if err != nil {
		return nil, t, err
	}
	if t.Actions = e.Actions; !e.Now.IsZero() {
		t.Now = e.Now
	}
	if e.Without != "" {
		t.Without = []string{e.Without}
	}
	whole, read := t.Message, parts{facts: true}
	now := file.Test([]rulesfile.Test{t}, kinds)[0]
	matched := now.Matched
	if decided := now.Decided(); t.Actions != nil && len(decided) > len(t.Actions) && includes(decided, t.Actions) {
		t.Actions = decided // what other rules do with it besides is right
	}
	for i := range file.Rules {
		if slices.Contains(matched, file.Rules[i].Name) || file.Rules[i].Name == e.Without {
			read.add(readBy(&file.Rules[i]))
		}
	}
	for {
		t.Message = read.of(whole)
		if len(t.Message.BodyPlain)+len(t.Message.BodyHTML) > maxTestText {
			return nil, t, usage.Errorf("%s is too long to be a test.", e.quoted())
		}
		revised, err := file.Revise(rulesfile.Revision{Tests: []rulesfile.Test{t}}, options...)
		if err != nil {
			return nil, t, usage.Wrap(err)
		}
		written := revised.Tests[slices.IndexFunc(revised.Tests, func(w rulesfile.Test) bool { return w.Name == t.Name })]
		if slices.Equal(revised.Test([]rulesfile.Test{written}, kinds)[0].Matched, matched) {
			return revised, written, nil
		}
		if !read.more() {
			return nil, t, usage.Errorf("%s cannot be written as a test.", e.quoted())
		}
	}
}
