package ruledraft

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A Mark is what a person says about a rule and a message.
type Mark struct {
	Message    *postroom.Message // with the names of its labels
	SenderSeen bool
	Past       rules.Past
	Right      bool // the rule is to have the message; otherwise it is not
}

// maxTestText bounds the text of a message in a test: the rules are read by people.
const maxTestText = 20 << 10

// AddTests returns the file with a test for each mark on one of its rules: that this rule has the message, after the
// same rules as now, or that it has not. A test has what that rule reads of the message, and more only if the other
// rules need it. A mark that the rules do not meet is a [usage.Error], and so is a message that cannot be written as a
// test.
func AddTests(
	file *rulesfile.File, name string, marks []Mark, kinds *postroom.Kinds, options ...rulesfile.ParseOption,
) (*rulesfile.File, error) {
	i := slices.IndexFunc(file.Rules, func(r rules.Rule) bool { return r.Name == name })
	if i < 0 || len(marks) == 0 {
		return file, nil
	}
	list := make([]markedTest, len(marks))
	for n, mark := range marks {
		t, err := markTest(file, &file.Rules[i], mark, kinds)
		if err != nil {
			return nil, err
		}
		list[n] = markedTest{t, mark, readBy(&file.Rules[i])}
	}
	for {
		revised, again, err := tryTests(file, list, kinds, options)
		if err != nil || !again {
			return revised, err
		}
	}
}

// A markedTest is a test with the whole message, and with the parts of it that are written.
type markedTest struct {
	rulesfile.Test
	mark  Mark
	parts parts
}

// tryTests adds the tests. If one fails that has too few parts of its message, it is to have more: again is true.
func tryTests(
	file *rulesfile.File, list []markedTest, kinds *postroom.Kinds, options []rulesfile.ParseOption,
) (revised *rulesfile.File, again bool, err error) {
	written := make([]rulesfile.Test, len(list))
	for i, t := range list {
		written[i] = t.Test
		written[i].Message = t.parts.of(t.Message)
		if len(written[i].Message.BodyPlain)+len(written[i].Message.BodyHTML) > maxTestText {
			return nil, false, usage.Errorf("%s is too long to be a test: take the mark away.", t.mark.quoted())
		}
	}
	if revised, err = file.Revise(rulesfile.Revision{Tests: written}, options...); err != nil {
		return nil, false, err
	}
	for _, result := range revised.Test(revised.Tests, kinds) {
		i := slices.IndexFunc(list, func(t markedTest) bool { return t.Name == result.Test.Name })
		if i < 0 || result.Passed() {
			continue
		}
		if again = true; !list[i].parts.more() {
			return nil, false, usage.Errorf("%s cannot be written as a test: take the mark away.", list[i].mark.quoted())
		}
	}
	return revised, again, nil
}

// markTest is the test of a mark, with the whole message.
func markTest(file *rulesfile.File, rule *rules.Rule, mark Mark, kinds *postroom.Kinds) (rulesfile.Test, error) {
	account := ""
	if rule.Scope == rules.ScopeAccount {
		account = rule.ScopeRef
	}
	t, err := mark.test(rule.Name, account)
	if err != nil {
		return t, err
	}
	matched := file.Test([]rulesfile.Test{t}, kinds)[0].Matched
	switch has := slices.Contains(matched, rule.Name); {
	case has && !mark.Right:
		return t, usage.Errorf("The rule still has %s, which is marked ✗: change its condition, or take the mark away.",
			mark.quoted())
	case !has && mark.Right && len(matched) > 0:
		return t, usage.Errorf("The rule %q decides about %s, which is marked ✓, before this one: take the mark away, or "+
			"have this rule tried before that one.", matched[len(matched)-1], mark.quoted())
	case !has && mark.Right:
		return t, usage.Errorf("The rule does not have %s, which is marked ✓: change its condition, or take the mark away.",
			mark.quoted())
	}
	if t.Without = []string{rule.Name}; mark.Right {
		t.Rules, t.Without = matched, nil
	}
	return t, nil
}

// test is the test of the whole message, which is named after a rule, and expects nothing yet.
func (m Mark) test(of, account string) (t rulesfile.Test, err error) {
	msg := *m.Message
	msg.AccountID = account
	t = rulesfile.Test{Name: m.name(of), Message: &msg, SenderSeen: m.SenderSeen, Past: m.Past, Now: msg.ReceivedAt}
	t.Authenticated, err = verified(&msg)
	return t, err
}

// name is that of the test: the same for the same message, so that another mark replaces it.
func (m Mark) name(rule string) string {
	name := strings.Join(strings.Fields(rule+": "+m.Message.Subject), " ")
	end := " (" + m.Message.From.Email + ", " + m.Message.ReceivedAt.UTC().Format("2006-01-02 15:04:05") + ")"
	most := max(0, rules.MaxNameLength-len([]rune(end)))
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	return strings.Map(func(r rune) rune {
		if rules.CheckName("x"+string(r)) != "" {
			return -1
		}
		return r
	}, name+end)
}

// quoted is the subject for people.
func (m Mark) quoted() string {
	subject := []rune(strings.Join(strings.Fields(m.Message.Subject), " "))
	if len(subject) > 80 {
		subject = append(subject[:79], '…')
	}
	return "“" + string(subject) + "”"
}

// The parts of a message that a test has besides addresses, subject and time.
type parts struct{ facts, header, bodies bool }

func (p *parts) add(more parts) {
	p.facts, p.header, p.bodies = p.facts || more.facts, p.header || more.header, p.bodies || more.bodies
}

// more adds a part; false if there is none.
func (p *parts) more() bool {
	switch {
	case !p.facts:
		p.facts = true
	case !p.header:
		p.header = true
	case !p.bodies:
		p.bodies = true
	default:
		return false
	}
	return true
}

// bare are the kinds of predicates that read addresses, the subject, the time and the test itself alone.
var bare = []rules.Kind{rules.SenderEmail, rules.SenderDomain, rules.To, rules.Cc, rules.SubjectContains,
	rules.SubjectRegex, rules.Subject, rules.RecipientCount, rules.OlderThan, rules.NewerThan, rules.TimeOfDay,
	rules.Weekday, rules.ReceivedAt, rules.Now, rules.SenderSeen, rules.SenderWrittenTo, rules.IAnswered,
	rules.TheyAnswered, rules.ThreadQuiet, rules.SinceIWrote, rules.Authenticated}

// factual are those that read the fields of facts, labels, attachments or the size.
var factual = []rules.Kind{rules.HasAttachment, rules.AttachmentName, rules.AttachmentType, rules.LargerThan,
	rules.SmallerThan, rules.LabelPresent, rules.Category, rules.Starred, rules.Important, rules.Unread, rules.ListID,
	rules.IsReply, rules.IsCalendar, rules.IsBounce, rules.IsAutomatic, rules.HasUnsubscribe}

// readBy returns the parts that a rule reads.
func readBy(r *rules.Rule) (p parts) {
	p.bodies = rules.NewSetWithFacts([]rules.Rule{*r}, nil).ReadsBodies()
	var read func(c *rules.Condition)
	read = func(c *rules.Condition) {
		for i := range c.Children {
			read(&c.Children[i])
		}
		if c.Op == "" && !slices.Contains(bare, c.Type) {
			p.facts = true
			body := c.Type == rules.Body || c.Type == rules.BodyContains || c.Type == rules.BodyRegex
			p.header = p.header || !body && !slices.Contains(factual, c.Type)
		}
	}
	read(&r.Condition)
	return p
}

// factFields are the header fields from which facts are read.
var factFields = []string{"auto-submitted", "precedence", "in-reply-to", "list-id", "list-post", "list-unsubscribe",
	"list-unsubscribe-post", "return-path", "x-auto-response-suppress", "x-autoreply", "x-failed-recipients"}

// of is the message with these parts alone.
func (p parts) of(m *postroom.Message) *postroom.Message {
	part := postroom.Message{AccountID: m.AccountID, From: m.From, To: m.To, Cc: m.Cc, Bcc: m.Bcc, Subject: m.Subject,
		ReceivedAt: m.ReceivedAt}
	if p.facts {
		part.LabelIDs, part.Attachments, part.Size = m.LabelIDs, m.Attachments, m.Size
		part.Date, part.ReplyTo = m.Date, m.ReplyTo
		for _, h := range m.Headers {
			if slices.Contains(factFields, strings.ToLower(h.Name)) {
				part.Headers = append(part.Headers, h)
			}
		}
	}
	if p.header {
		part.Headers = m.Headers
	}
	if p.bodies {
		part.BodyPlain, part.BodyHTML = m.BodyPlain, m.BodyHTML
	}
	return &part
}
