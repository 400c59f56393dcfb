package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/rules"
)

// Print writes the explanation for a person. whole also writes the prompt of a model.
func (x *Explanation) Print(r *printer.Report, whole bool) {
	r.Heading(x.Answer())
	r.Heading("Message " + x.Message.ID)
	r.Add("from", x.Message.From.String())
	r.Add("subject", x.Message.Subject)
	r.Add("received", printer.Clock(x.Message.ReceivedAt))
	r.Add("labels", strings.Join(x.Message.Labels, ", "))
	if x.Message.Draft != "" {
		answer := DraftWords(x.Message.Draft)
		if x.DraftReason != "" {
			answer += ": " + x.DraftReason
		}
		r.Add("answer", answer)
	}
	if x.Unanswered != "" {
		r.Add("away", "not answered: "+x.Unanswered)
	}

	for _, d := range x.Decisions {
		d.Print(r)
	}
	if x.Old {
		r.Heading("Nothing is decided")
		r.Line("It came before its mailbox was added, and nothing is done to old mail: 'postroomd rules apply' sorts it.")
	}
	if x.Waiting {
		r.Heading("Nothing is decided yet")
		r.Line(
			"Its job waits or has failed, see 'postroomd jobs list', or the message was sent mail, a draft, spam or trash when it arrived.")
	}
	r.Heading("The rules, as they are now")
	for _, rule := range x.Rules {
		rule.print(r)
	}
	if len(x.Rules) == 0 {
		r.Line("there are none")
	}
	if x.Unsure != "" {
		r.Line("As if the sender had never written before, since that cannot be found out: " + x.Unsure)
	}
	if x.Meaning != nil {
		r.Heading("What it means")
		for _, line := range x.Meaning.Lines() {
			r.Add(line.Name, line.Text)
		}
	}
	if x.Model != nil {
		x.Model.print(r, whole)
	}
}

// Answer says in one sentence what became of the message, and who decided that.
func (x *Explanation) Answer() string {
	switch {
	case len(x.Decisions) == 0 && x.Old:
		return "Nothing is done with it: it came before its mailbox was added."
	case len(x.Decisions) == 0:
		return "Nothing is decided about it yet."
	}
	d := x.Decisions[len(x.Decisions)-1]
	what, state := d.What(), ""
	if len(d.Actions) > 0 {
		last := d.Actions[len(d.Actions)-1].Action
		what, state = strings.TrimRight(string(last.Action)+" "+d.Label, " "), last.State.Words()
	}
	by := "decided by " + d.By()
	switch {
	case d.Action == postroom.None && d.Source == postroom.SourceNone:
		return "Nothing is done with it: no rule matched, and no model decided."
	case d.Action == postroom.None:
		return "Nothing is done with it, " + by + "."
	case d.NeedsApproval && len(d.Reasons) > 0 && state == postroom.ActionPendingApproval.Words():
		by += "; " + strings.Join(d.Reasons, "; ")
	}
	return strings.TrimSpace(what+": "+state) + ", " + by + "."
}

// In words for people.
var outcomes = map[rules.Outcome]string{
	rules.Matched: "matches", rules.NoMatch: "fails", rules.OutOfScope: "other scope", rules.OutOfTime: "off now",
	rules.Unverified: "unverified", rules.NotTried: "not tried", rules.RuleDisabled: "disabled",
	rules.RuleBroken: "broken",
}

// OutcomeWords says of a rule what came of trying it, as after its name.
func OutcomeWords(o rules.Outcome) string { return outcomes[o] }

func (v *TriedRule) print(r *printer.Report) {
	r.Add(outcomes[v.Outcome], fmt.Sprintf("%s (priority %d)", v.Name, v.Priority))
	if len(v.Failed) == 0 {
		r.Add("", v.Reason)
		return
	}
	for _, f := range v.Failed {
		text := f.Condition
		if f.Found != "" {
			text += " (" + f.Found + ")"
		}
		r.Add("", text)
	}
}

func (v *Model) print(r *printer.Report, whole bool) {
	r.Heading("The model")
	for i := range v.Calls {
		v.Calls[i].print(r)
	}
	if len(v.Calls) == 0 {
		r.Line("was not asked; " + strings.Join(v.Models, ", ") + " would be, if no rule matched")
	}
	if len(v.Prompt) == 0 {
		return
	}
	for i := range v.Instructions {
		r.Add("binding", cmp.Or(v.Instructions[i].Binding, "nothing for "+v.Instructions[i].For)+", by instruction "+
			v.Instructions[i].ID)
	}
	sizes := printer.List(v.Prompt, func(l Layer) string {
		return fmt.Sprintf("%s %d", l.Name, utf8.RuneCountInString(l.Text))
	})
	r.Add("told now", strings.Join(sizes, ", ")+" characters"+v.compared()+printer.Unless(whole, "; --prompt shows it"))
	if !whole {
		return
	}
	for _, l := range v.Prompt {
		r.Heading("What it would be told: " + l.Name)
		r.Quote(l.Text)
	}
}

// compared reports whether the prompt is the one that was sent.
func (v *Model) compared() string {
	switch {
	case len(v.Calls) == 0:
		return ""
	case v.Same:
		return ", as it was then"
	}
	return ", which is not what it was then"
}

func (c *Call) print(r *printer.Report) {
	took := (time.Duration(c.LatencyMS) * time.Millisecond).String()
	said := map[llm.CallState]string{
		llm.Answered: fmt.Sprintf("answered in %s, %s, %s", took, printer.Count(c.Tokens, "token", "tokens"), c.Cost),
		llm.Failed:   "failed after " + took, llm.Cached: "gave the answer that was kept, for nothing",
		llm.Refused: "refused after " + took, llm.Unaffordable: "was not asked: a budget is spent",
		llm.Calling: fmt.Sprintf("has not answered, or its process died; at most %s, %s",
			printer.Count(c.Tokens, "token", "tokens"), c.Cost),
	}[c.Outcome]
	r.Add("asked", printer.Clock(c.At)+" "+c.Model)
	r.Add("", said)
	r.Add("failure", c.Failure)
	r.Add("answer", c.Answer)
}
