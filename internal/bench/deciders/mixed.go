package deciders

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// mixedKinds are rules as people have them, by number.
var mixedKinds = []func(i int) Rule{
	func(i int) Rule {
		sender := fmt.Sprintf("person%d@firm%d.example", i, i)
		return Rule{leaf(rules.SenderEmail, sender), fmt.Sprintf("sender == %q", sender)}
	},
	func(i int) Rule {
		domain := fmt.Sprintf("shop%d.example", i)
		return Rule{leaf(rules.SenderDomain, domain), fmt.Sprintf("sender_domain == %q", domain)}
	},
	func(i int) Rule { return subjectContains(fmt.Sprintf("offer %d for", i)) },
	func(i int) Rule { return subjectRegex(fmt.Sprintf(`(?i)\border #?%d\b`, i)) },
	func(i int) Rule { return headerMatch("List-Id", fmt.Sprintf(`<list%d\.`, i)) },
	func(i int) Rule {
		return joined(rules.And, "&&", larger(int64(1000+i)), subjectContains(fmt.Sprintf("contract %d of", i)))
	},
	func(i int) Rule {
		starred := Rule{leaf(rules.LabelPresent, "STARRED"), `"STARRED" in labels`}
		return joined(rules.And, "&&",
			joined(rules.Or, "||", subjectContains(fmt.Sprintf("invoice %d from", i)),
				headerMatch("X-Invoice", fmt.Sprintf(`^%d$`, i))),
			Rule{rules.NoneOf(starred.Condition), "!(" + starred.CEL + ")"},
		)
	},
}

// Mixed returns n rules of all kinds.
func Mixed(n int) []Rule {
	list := make([]Rule, n)
	for i := range list {
		list[i] = mixedKinds[i%len(mixedKinds)](i)
	}
	return list
}

func leaf(kind rules.Kind, value string) rules.Condition {
	return rules.Condition{Type: kind, Value: value}
}

// subjectContains compares without case, as do people.
func subjectContains(text string) Rule {
	return Rule{leaf(rules.SubjectContains, text), fmt.Sprintf("subject_lower.contains(%q)", strings.ToLower(text))}
}

func subjectRegex(pattern string) Rule {
	return Rule{leaf(rules.SubjectRegex, pattern), fmt.Sprintf("subject.matches(%q)", pattern)}
}

func headerMatch(name, pattern string) Rule {
	lower := strings.ToLower(name)
	return Rule{
		rules.Condition{Type: rules.HeaderMatch, Header: name, Pattern: pattern},
		fmt.Sprintf("%q in headers && headers[%q].exists(v, v.matches(%q))", lower, lower, pattern),
	}
}

func larger(kilobytes int64) Rule {
	return Rule{leaf(rules.LargerThan, fmt.Sprintf("%dKB", kilobytes)), "size > " + strconv.FormatInt(kilobytes<<10, 10)}
}

func joined(op rules.Op, sign string, list ...Rule) Rule {
	conditions, terms := make([]rules.Condition, len(list)), make([]string, len(list))
	for i, r := range list {
		conditions[i], terms[i] = r.Condition, "("+r.CEL+")"
	}
	return Rule{rules.Condition{Op: op, Children: conditions}, strings.Join(terms, " "+sign+" ")}
}

// Messages returns messages about the rules of [Mixed]: half of them match none of n, each of the others at least one.
func Messages(n int) []*postroom.Message {
	var list []*postroom.Message
	for k := range mixedKinds {
		for _, part := range []int{0, 1, 2} { // one of the first rules of the kind, one in the middle, one of the last
			i := k + part*max(0, n-len(mixedKinds))/2/len(mixedKinds)*len(mixedKinds)
			list = append(list, about(k, i), about(k, i+n*len(mixedKinds)))
		}
	}
	return list
}

// about makes a message that rule i, of kind k, matches, and none of another kind; every message has words that many
// rules have.
func about(k, i int) *postroom.Message {
	msg := &postroom.Message{
		From:     postroom.Address{Name: "Somebody", Email: "Somebody@Else.example"},
		Subject:  "The order of the day: a contract, an invoice and an offer",
		LabelIDs: []string{"INBOX", "UNREAD"}, Size: 40 << 10,
	}
	for h := range 30 {
		msg.Headers = append(msg.Headers, postroom.Header{Name: fmt.Sprintf("X-Header-%d", h),
			Value: "a value of ordinary length"})
	}
	listID := "<news.example>"
	switch k {
	case 0:
		msg.From.Email = fmt.Sprintf("Person%d@Firm%d.example", i, i)
	case 1:
		msg.From.Email = fmt.Sprintf("news@shop%d.EXAMPLE", i)
	case 2:
		msg.Subject = fmt.Sprintf("An OFFER %d for you", i)
	case 3:
		msg.Subject = fmt.Sprintf("Your Order #%d has left us", i)
	case 4:
		listID = fmt.Sprintf("A list <list%d.lists.example>", i)
	case 5:
		msg.Subject, msg.Size = fmt.Sprintf("The contract %d of today", i), int64(2000+i)<<10
	default:
		msg.Headers = append(msg.Headers, postroom.Header{Name: "X-INVOICE", Value: strconv.Itoa(i)})
	}
	msg.Headers = append(msg.Headers, postroom.Header{Name: "List-Id", Value: listID})
	return msg
}
