package llm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
)

// A prohibition is what a direction forbids, as far as a program can read it.
type prohibition struct {
	direction string
	actions   []postroom.ActionType
	// sender is an address or a domain; empty: any.
	sender string
	// sure reports that the direction says nothing besides: else it may be about other mail, and a person is asked.
	sure bool
}

// forbidden are the verbs that directions forbid, with what they would be carried out by. Who forbids to delete means the trash, too.
var forbidden = map[string][]postroom.ActionType{
	"delete": {postroom.Delete, postroom.Trash}, "erase": {postroom.Delete, postroom.Trash}, "remove": {postroom.Delete, postroom.Trash},
	"trash": {postroom.Trash, postroom.Delete}, "bin": {postroom.Trash, postroom.Delete}, "discard": {postroom.Trash, postroom.Delete},
	"archive": {postroom.Archive}, "forward": {postroom.Forward}, "send": {postroom.Forward, postroom.AutoReply},
	"reply": {postroom.AutoReply}, "answer": {postroom.AutoReply}, "respond": {postroom.AutoReply},
	"move": {postroom.Move}, "snooze": {postroom.Snooze}, "star": {postroom.Star}, "unstar": {postroom.Unstar},
	"label": {postroom.ApplyLabel, postroom.Move}, "escalate": {postroom.Escalate},
}

// said are the words of a prohibition that say nothing about which mail it is for.
var said = regexp.MustCompile(`^(?:ever|permanently|automatically|or|and|nor|a|an|any|anything|anybody|anyone|all|my|the|it|them|of|mails?|e-?mails?|messages?|everything|to|on|out|away|please|me|for)$`)

var (
	// neverClause has no subject besides the model: "if I don't answer" forbids nothing.
	neverClause = regexp.MustCompile(`(?:^|, ?|\b(?:please|and|but|or|you|then) )(?:never|don'?t|do not|must not|must never|may not|should not) (.*)$`)
	// oddNever asks for what follows: "do not forget to archive".
	oddNever  = regexp.MustCompile(`^(?:ever )?(?:forget|hesitate|fail|miss|neglect|wait)\b`)
	clauseEnd = regexp.MustCompile(`[.;!\n]+(?:\s|$)`)
	fromWhom  = regexp.MustCompile(`\bfrom\s+(?:the\s+domain\s+|anyone\s+at\s+|anybody\s+at\s+|@)?([a-z0-9._%+\-]+@[a-z0-9.\-]+\.[a-z]{2,}|[a-z0-9\-]+(?:\.[a-z0-9\-]+)*\.[a-z]{2,})\b`)
)

// prohibitions reads what the directions forbid. What it does not understand it leaves to the model and the gate.
func prohibitions(directions []string) []prohibition {
	var found []prohibition
	for _, d := range directions {
		for _, clause := range clauseEnd.Split(strings.ToLower(strings.ReplaceAll(d, "’", "'")), -1) {
			if p, ok := readProhibition(clause); ok {
				p.direction = d
				found = append(found, p)
			}
		}
	}
	return found
}

func readProhibition(clause string) (p prohibition, ok bool) {
	clause = strings.Trim(strings.Join(strings.Fields(clause), " "), " .,;!")
	at := neverClause.FindStringSubmatchIndex(clause)
	if at == nil {
		return p, false
	}
	what := clause[at[2]:at[3]]
	if oddNever.MatchString(what) {
		return p, false
	}
	p.sure = strings.Trim(clause[:at[0]], " ,") == "" || strings.Trim(clause[:at[0]], " ,") == "please"
	if m := fromWhom.FindStringSubmatchIndex(what); m != nil {
		p.sender, what = what[m[2]:m[3]], what[:m[0]]+what[m[1]:]
	}
	for word := range strings.FieldsFuncSeq(what, func(r rune) bool { return r == ' ' || r == ',' || r == '/' }) {
		switch actions, verb := forbidden[word]; {
		case verb:
			p.actions = append(p.actions, actions...)
		case !said.MatchString(word):
			p.sure = false
		}
	}
	return p, len(p.actions) > 0
}

// concerns reports whether the decision is one that is forbidden about the message.
func (p *prohibition) concerns(msg *postroom.Message, d *postroom.Decision) bool {
	if !slices.Contains(p.actions, d.Action) {
		return false
	}
	sender := strings.ToLower(msg.From.Email)
	domain := sender[strings.LastIndexByte(sender, '@')+1:]
	switch {
	case p.sender == "":
		return true
	case strings.Contains(p.sender, "@"):
		return sender == p.sender
	}
	return domain == p.sender || strings.HasSuffix(domain, "."+p.sender)
}

// obey checks a decision against what the directions forbid: what is forbidden for sure is a fault of the answer, what may be
// forbidden goes to a person.
func obey(list []prohibition, msg *postroom.Message, d *postroom.Decision) error {
	for i := range list {
		p := &list[i]
		if !p.concerns(msg, d) {
			continue
		}
		if p.sure {
			return fmt.Errorf("%w: decision: action %s is forbidden by the direction %q", ErrInvalidDecision, d.Action, cut(oneLine(p.direction), maxField))
		}
		d.NeedsApproval = true
		d.Explanations.SalientFeatures = append(d.Explanations.SalientFeatures, "a direction may forbid this: "+cut(oneLine(p.direction), maxField))
	}
	return nil
}
