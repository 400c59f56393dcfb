package decide

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// A prohibition is what a direction forbids, as far as the program can parse it.
type prohibition struct {
	direction string
	actions   []postroom.ActionType
	// sender is an address or a domain; empty: any.
	sender string
	// sure reports that the direction says nothing else. Otherwise it may be about other mail, and a person is asked.
	sure bool
}

var (
	// awayFromInbox are the actions after which a message is not in the inbox. Forbidding to archive also forbids moving to
	// labels.
	awayFromInbox = []postroom.ActionType{postroom.Archive, postroom.Move, postroom.Snooze, postroom.Trash, postroom.Delete}
	// everyAction is all that can be done to a message.
	everyAction = append([]postroom.ActionType{
		postroom.ApplyLabel, postroom.RemoveLabel, postroom.MarkRead, postroom.MarkUnread, postroom.Restore, postroom.Star, postroom.Unstar,
		postroom.AddNote, postroom.CreateTask, postroom.Forward, postroom.AutoReply, postroom.Escalate,
	}, awayFromInbox...)
	intoTrash = []postroom.ActionType{postroom.Trash, postroom.Delete}
)

// forbidden maps the verbs of directions to the actions that carry them out. Forbidding to delete also forbids the trash.
var forbidden = map[string][]postroom.ActionType{
	"delete": intoTrash, "erase": intoTrash, "remove": intoTrash, "trash": intoTrash, "bin": intoTrash, "discard": intoTrash, "destroy": intoTrash,
	"throwaway": intoTrash, "dispose": intoTrash, "archive": {postroom.Archive, postroom.Move}, "hide": awayFromInbox, "takeout": awayFromInbox,
	"forward": {postroom.Forward}, "send": {postroom.Forward, postroom.AutoReply}, "share": {postroom.Forward},
	"reply": {postroom.AutoReply}, "answer": {postroom.AutoReply}, "respond": {postroom.AutoReply},
	"move": {postroom.Move}, "snooze": {postroom.Snooze}, "star": {postroom.Star}, "unstar": {postroom.Unstar},
	"label": {postroom.ApplyLabel, postroom.Move}, "addlabel": {postroom.ApplyLabel, postroom.Move}, "removelabel": {postroom.RemoveLabel},
	"markread": {postroom.MarkRead}, "markunread": {postroom.MarkUnread}, "restore": {postroom.Restore}, "escalate": {postroom.Escalate},
	"touch": everyAction, "change": everyAction, "alter": everyAction, "modify": everyAction,
}

// phrases are verbs of several words, and irregular forms. Each stands for one word.
var phrases = []struct {
	words *regexp.Regexp
	verb  string
}{
	{regexp.MustCompile(`\b(?:mark(?:ed|ing)?|set|flag)\b([a-z0-9@._%+\- ]*?)\b(?:as )?unread\b`), "markunread$1"},
	{regexp.MustCompile(`\b(?:mark(?:ed|ing)?|set|flag)\b([a-z0-9@._%+\- ]*?)\b(?:as )?(?:read|seen)\b`), "markread$1"},
	{regexp.MustCompile(`\b(?:throw(?:n|ing)?|put(?:ting)?)\b([a-z0-9@._%+\- ]*?)\b(?:away|out|in(?:to)? the (?:trash|bin))\b`), "throwaway$1"},
	{regexp.MustCompile(`\b(?:take|taken|taking|move|moved|moving|remove|removed|removing)\b([a-z0-9@._%+\- ]*?)\b(?:out of|from|off) (?:the |my )?inbox\b`), "takeout$1"},
	{regexp.MustCompile(`\b(?:apply|applied|applying|add|added|adding|attach|set|put)\b((?: (?:any|new|a|the))?) labels?\b`), "addlabel$1"},
	{regexp.MustCompile(`\b(?:remove|removed|removing|delete|deleted|take)\b((?: (?:any|a|the|my))?) labels?(?: off)?\b`), "removelabel$1"},
	{regexp.MustCompile(`\bsent\b`), "send"},
	{regexp.MustCompile(`\bhid(?:den|ing)\b`), "hide"},
	{regexp.MustCompile(`\brepl(?:ied|ies)\b`), "reply"},
}

// said are the words of a prohibition that say nothing about which mail it is for.
var said = regexp.MustCompile(`^(?:ever|permanently|automatically|or|and|nor|a|an|any|anything|anybody|anyone|all|my|the|it|them|of|mails?|e-?mails?|messages?|everything|things?|to|on|out|away|please|me|for|as|be|being|is|been|you|want|have)$`)

var (
	// neverClause has no subject besides the model: "if I don't answer" forbids nothing.
	neverClause = regexp.MustCompile(`(?:^|, ?|\b(?:please|and|but|or|you|then) )(?:under no circumstances|never|don'?t|do not|must not|must never|may not|may never|should not|should never|can ?not|can't|shall not|avoid|stop|refrain from) (.*)$`)
	// wishClause matches a statement of what the person does not want.
	wishClause = regexp.MustCompile(`^(?:please )?i (?:never|do not|don't)(?: ever)? (?:want|wish|like) (.*)$`)
	// noneClause is "nothing may be deleted", and notAllowed "deleting is forbidden".
	noneClause = regexp.MustCompile(`^(?:nothing|none of my (?:mail|messages)|no (?:e-?)?(?:mails?|messages?))\b(.*?) (?:is|are|may|must|should|shall|can|will)(?: (?:ever|to|allowed))* be (.*)$`)
	notAllowed = regexp.MustCompile(`^(.*?) (?:is|are) (?:\w+ )?(?:forbidden|prohibited|not allowed|not permitted|not ok(?:ay)?)$`)
	emphasis   = regexp.MustCompile(`,? ?\b(?:under (?:any|no) circumstances?|in any case|at all|whatever happens|no matter what|ever again)\b ?,?`)
	// oddNever matches a negation that requests what follows: "do not forget to archive".
	oddNever  = regexp.MustCompile(`^(?:ever )?(?:forget|hesitate|fail|miss|neglect|wait)\b`)
	clauseEnd = regexp.MustCompile(`[.;!\n]+(?:\s|$)`)
	fromWhom  = regexp.MustCompile(`\bfrom\s+(?:the\s+domain\s+|anyone\s+at\s+|anybody\s+at\s+|@)?([a-z0-9._%+\-]+@[a-z0-9.\-]+\.[a-z]{2,}|[a-z0-9\-]+(?:\.[a-z0-9\-]+)*\.[a-z]{2,})\b`)
	// prohibitive matches words of prohibition in some languages.
	prohibitive = regexp.MustCompile(`\b(?:never|don'?t|do not|must not|may not|should not|can ?not|can't|nothing|avoid|refrain|forbidden|prohibited|not allowed|under no circumstances|nie|niemals|nicht|nichts|kein\w*|verboten|jamais|ne|rien|interdit\w*|nunca|jam[aá]s|nada|prohibid\w*|mai|niente|nooit|niets|não)(?:$|[^\pL\pN])`)
)

// clauses are the parts of a direction that are read by themselves.
func clauses(direction string) (found []string) {
	for _, clause := range clauseEnd.Split(strings.ToLower(strings.ReplaceAll(direction, "’", "'")), -1) {
		if clause = strings.Trim(strings.Join(strings.Fields(clause), " "), " .,;!"); clause != "" {
			found = append(found, clause)
		}
	}
	return found
}

// instructions are the texts of the directions and of the rules.
func (g Guidance) instructions() []string {
	texts := slices.Clone(g.Directions)
	for _, r := range g.Rules {
		texts = append(texts, r.Text)
	}
	return texts
}

// prohibitions parses the prohibitions of the directions. The rest is left to the model and the gate.
func prohibitions(directions []string) []prohibition {
	var found []prohibition
	for _, d := range directions {
		for _, clause := range clauses(d) {
			if p, ok := readProhibition(clause); ok {
				p.direction = d
				found = append(found, p)
			}
		}
	}
	return found
}

func readProhibition(clause string) (p prohibition, ok bool) {
	before, what, ok := forbids(clause)
	if !ok || oddNever.MatchString(what) {
		return p, false
	}
	before = strings.Trim(before, " ,")
	p.sure = before == "" || before == "please" || before == "you"
	if m := fromWhom.FindStringSubmatchIndex(what); m != nil {
		p.sender, what = what[m[2]:m[3]], what[:m[0]]+what[m[1]:]
	}
	for _, phrase := range phrases {
		what = phrase.words.ReplaceAllString(what, phrase.verb)
	}
	for word := range strings.FieldsFuncSeq(what, func(r rune) bool { return r == ' ' || r == ',' || r == '/' }) {
		switch actions := verb(word); {
		case actions != nil:
			p.actions = append(p.actions, actions...)
		case !said.MatchString(word):
			p.sure = false
		}
	}
	return p, len(p.actions) > 0
}

// forbids splits a clause into the text before a prohibition and the prohibited part.
func forbids(clause string) (before, what string, ok bool) {
	if m := noneClause.FindStringSubmatch(clause); m != nil {
		return "", m[2] + m[1], true
	}
	if m := notAllowed.FindStringSubmatch(clause); m != nil {
		return "", m[1], true
	}
	clause = strings.TrimSpace(emphasis.ReplaceAllStringFunc(clause, func(s string) string {
		if strings.Contains(s, "under no ") {
			return s
		}
		return " "
	}))
	clause = strings.Join(strings.Fields(clause), " ")
	if m := wishClause.FindStringSubmatch(clause); m != nil {
		return "", m[1], true
	}
	at := neverClause.FindStringSubmatchIndex(clause)
	if at == nil {
		return "", "", false
	}
	return clause[:at[0]], clause[at[2]:at[3]], true
}

// verb returns the actions that a word forbids, in any form: delete, deletes, deleted, deleting.
func verb(word string) []postroom.ActionType {
	if actions, ok := forbidden[word]; ok {
		return actions
	}
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok || len(stem) < 2 {
			continue
		}
		for _, form := range []string{stem, stem + "e", stem[:len(stem)-1]} {
			if actions, ok := forbidden[form]; ok {
				return actions
			}
		}
	}
	return nil
}

func Unchecked(text string) string {
	hint := ""
	for _, clause := range clauses(text) {
		switch p, ok := readProhibition(clause); {
		case ok && p.sure:
		case ok:
			hint = "it says more than what is forbidden, so a decision that it may forbid goes to a person"
		case isOdd(clause) || !prohibitive.MatchString(clause):
		default:
			return "it seems to forbid something and is only told to the model: its decisions are not checked against it"
		}
	}
	return hint
}

func isOdd(clause string) bool {
	_, what, ok := forbids(clause)
	return ok && oddNever.MatchString(what)
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

// obey checks a decision against the prohibitions: a certain violation is a fault of the answer, a possible one goes to a person.
func obey(list []prohibition, msg *postroom.Message, d *postroom.Decision) error {
	for i := range list {
		p := &list[i]
		if !p.concerns(msg, d) {
			continue
		}
		if p.sure {
			return fmt.Errorf("%w: decision: action %s is forbidden by the direction %q", ErrInvalidDecision, d.Action, cleantext.Cut(cleantext.OneLine(p.direction), maxField))
		}
		d.NeedsApproval = true
		d.Explanations.SalientFeatures = append(d.Explanations.SalientFeatures, "a direction may forbid this: "+cleantext.Cut(cleantext.OneLine(p.direction), maxField))
	}
	return nil
}
