package injection

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/mime/lookalike"
)

// A phrase is said to models, and hardly ever to people. It is searched in the result of [lookalike.LatinText], and
// only around a plain word that it has: an expression costs a hundred times as much as the search for a word.
type phrase struct {
	words []string
	near  [][]string // one of each is near the word
	said  []*regexp.Regexp
}

// newPhrase returns a phrase that one of the expressions matches. Blanks separate the words; bars
// separate what is near them, and semicolons several things that all are. A word of at most three letters is a whole
// word; a longer one may be a part.
func newPhrase(words, near string, expressions ...string) phrase {
	p := phrase{words: strings.Fields(words)}
	for _, e := range expressions {
		p.said = append(p.said, regexp.MustCompile(e)) // not as one: small ones are matched faster
	}
	for group := range strings.SplitSeq(near, ";") {
		p.near = append(p.near, strings.Split(group, "|"))
	}
	return p
}

// around is the number of bytes beside a word in which a phrase is searched; hardly any is as long.
const around = 128

// isIn reports whether the phrase is in a part of a text of single blanks.
func (p *phrase) isIn(part string) bool {
	isNear := func(word string) bool { return strings.Contains(part, word) }
	for _, group := range p.near {
		if !slices.ContainsFunc(group, isNear) {
			return false
		}
	}
	return slices.ContainsFunc(p.said, func(said *regexp.Regexp) bool { return said.MatchString(part) })
}

// A finder finds the words of all phrases in one pass over a text.
type finder struct {
	phrases []phrase
	// words begin with the two bytes of their pair. A pair without words has no place in the list.
	words [][]phraseWord
	pairs [1 << 10]uint8 // places in words
}

type phraseWord struct {
	word   string
	phrase int
}

func newFinder(phrases []phrase) *finder {
	f := &finder{phrases: phrases, words: make([][]phraseWord, 1)}
	for i, p := range phrases {
		for _, word := range p.words {
			at := &f.pairs[pair(word[0], word[1])]
			if *at == 0 {
				*at = uint8(len(f.words)) // there are far fewer words than 256
				f.words = append(f.words, nil)
			}
			f.words[*at] = append(f.words[*at], phraseWord{word, i})
		}
	}
	return f
}

// pair is a number for two bytes, which few others share.
func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// A part of a text is that around a word of a phrase, or around several words that are near each other.
type part struct{ from, to int }

// finds reports whether a phrase is in a text of single blanks.
func (f *finder) finds(text string) bool {
	parts := make([]part, len(f.phrases)) // of each phrase the last one, which may still grow
	isIn := func(phrase int) bool {
		return parts[phrase].to > 0 && f.phrases[phrase].isIn(text[parts[phrase].from:parts[phrase].to])
	}
	for begin := 0; begin+1 < len(text); begin++ {
		place := f.pairs[pair(text[begin], text[begin+1])]
		if place == 0 {
			continue
		}
		for _, w := range f.words[place] {
			end := begin + len(w.word)
			if !strings.HasPrefix(text[begin:], w.word) || len(w.word) <= 3 && !isWholeWord(text, begin, end) {
				continue
			}
			from := max(0, begin-around)
			if last := &parts[w.phrase]; last.to == 0 || from > last.to {
				if isIn(w.phrase) {
					return true
				}
				last.from = from
			}
			parts[w.phrase].to = min(len(text), end+around)
		}
	}
	for phrase := range parts {
		if isIn(phrase) {
			return true
		}
	}
	return false
}

func isWholeWord(text string, begin, end int) bool {
	isLetter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' }
	return (begin == 0 || !isLetter(text[begin-1])) && (end == len(text) || !isLetter(text[end]))
}

// disregard are requests to forget a model's instructions, in several languages.
var disregard = []phrase{
	newPhrase("instruct prompt rules direct guideline", "ignore|disregard|forget|override|bypass|skip;"+
		"previous|prior|above|earlier|preceding|existing|original|system",
		`\b(ignore|disregard|forget|override|bypass|skip)\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+|my\s+|these\s+)?(previous|prior|above|earlier|preceding|existing|original|system)\s+(system\s+)?(instructions?|prompts?|rules|directions|guidelines|directives)\b`),
	newPhrase("instruct prompt rules direct guideline", "ignore|disregard|forget|override|bypass|skip;your",
		`\b(ignore|disregard|forget|override|bypass)\s+(all\s+|any\s+)?(of\s+)?your\s+(own\s+|other\s+)?(instructions?|prompts?|rules|directions|guidelines|directives)\b`),
	newPhrase("instruct prompt rules direct guideline", "follow|obey",
		`\b(don't|do\s+not|stop)\s+(follow|obey)(ing)?\s+(the\s+|your\s+|any\s+|all\s+)*(previous|prior|above|earlier|original|system)\s+(instructions?|prompts?|rules|directions|guidelines)\b`),
	newPhrase("prompt", "system", `\bsystem[\s-]prompt\b`),
	newPhrase("told said given", "ignore|disregard|forget",
		`\b(ignore|disregard|forget)\s+(everything|anything|all|what)\s+(that\s+)?(you\s+were|you\s+have\s+been|you've\s+been|was)\s+(told|said|given)\b`),
	newPhrase("anweis anordn instruk vorgabe regel befehl prompt", "ignorier|missacht|vergiss|vergess|ubergeh|uberspring",
		`\b(ignorier\w*|missacht\w*|vergiss|vergesst|vergessen|ubergeh\w*|uberspring\w*)\s+(\w+\s+){0,3}(vorherig|bisherig|obig|fruher|vorig|vorangegang|vorangeh|ursprunglich|system)\w*\s+(anweisung|anordnung|instrukt|vorgabe|regel|befehl|prompt)\w*`),
	newPhrase("instruction consignes directives regles ordres", "ignor|oubli|neglig",
		`\b(ignor|oubli|neglig)\w*\s+(\w+\s+){0,3}(instructions?|consignes|directives|regles|ordres)\s+(qui\s+)?(precedent|anterieur|initial|ci-dessus|systeme|donne)\w*`),
	newPhrase("instruc indicac ordenes reglas directri regras diretri", "ignor|olvid|descart|desatiend|omit|esque",
		`\b(ignor|olvid|descart|desatiend|omit|esque)\w*\s+(\w+\s+){0,3}(instrucciones|indicaciones|ordenes|reglas|directrices|instrucoes|regras|diretrizes)\s+(anterior|previa|inicial|original|de\s+arriba|acima|del?\s+sistema|do\s+sistema)\w*`,
		`\b(ignor|olvid|esque)\w*\s+(\w+\s+){0,3}(anteriores|previas)\s+(instrucciones|indicaciones|ordenes|reglas|instrucoes|regras)\b`),
	newPhrase("istruzion instructies", "ignora|negeer|vergeet",
		`\bignora\w*\s+(\w+\s+){0,3}istruzioni\s+(precedent|iniziali|sopra|di\s+sistema)`,
		`\b(negeer|vergeet)\s+(\w+\s+){0,3}(vorige|eerdere|bovenstaande|voorgaande)\s+instructies\b`),
}

// addressed are texts that address a machine.
var addressed = []phrase{
	newPhrase("ai llm llms language gpt chatgpt claude gemini copilot", "",
		`\b(attention|instructions?\s+(for|to)|note\s+(for|to)|message\s+(for|to)|to|dear|hey|hello)[\s,:]+(the\s+|any\s+|all\s+)?(ai|llm|(large\s+)?language\s+models?|gpt|chatgpt|claude|gemini|copilot)\s*([,:;!.-]|that\b|which\b|who\b|reading\b|processing\b|assistants?\b|agents?\b|models?\b|systems?\b)`,
		`\b(attention|instructions?\s+(for|to)|note\s+(for|to)|message\s+(for|to)|dear|hey|hello)[\s,:]+(the\s+|any\s+|all\s+)?(ai|llm|language\s+model|gpt|chatgpt|claude|gemini|copilot)\b`,
		`\b(ai|llm)\s+(assistants?|agents?|models?|systems?|classifiers?)\b[^.!?\n]{0,60}\b(must|should|shall|please|are\s+required|are\s+instructed|reading|processing|summari[sz]ing)\b`,
		`\byou\s+are\s+(now\s+)?(an?\s+|the\s+)?(ai|llm|language\s+model|gpt)\b`),
	newPhrase("assistant bot bots chatbot classifier filter",
		"dear|hey|hi |hi,|hi:|hi\n|hello|attention|note|message|instruction|you are|you\nare",
		`\b(dear|hey|hi|hello|attention|(note|message|instructions?)\s+(for|to))[\s,:]+(the\s+|my\s+|any\s+|all\s+)?((e-?)?mail\s+|inbox\s+|virtual\s+|digital\s+|automated\s+|sorting\s+)*(assistants?|bots?|chatbots?|classifiers?|filters?)\s*[,:;!.-]`,
		`\byou\s+are\s+(now\s+)?(an?\s+|the\s+)?(e-?mail|mail|helpful|virtual)\s+assistant\b`),
	newPhrase("system assistant", "system:|system :|assistant:|assistant :",
		`\n[ \t>*]*(assistant|system)\s*:[^\n]{0,80}\b(tool|ignore|archive|trash|delete|forward|classify|confidence|decision|instructions?)\b`),
	newPhrase("tool function", "call|invoke|use the|use tool|use function|use\n|the\ntool|the\nfunction",
		`\b(call|use|invoke)\s+(the\s+)?(tool|function)s?\b[^.\n]{0,40}\b(action|decision|trash|archive|delete|forward|move)\b`),
	newPhrase("ki sprachmodell assistent", "hinweis|nachricht|anweisung|achtung|liebe|hallo|botschaft|bist",
		`\b(hinweis|nachricht|anweisung\w*|achtung|liebe[rs]?|hallo|botschaft)[\s,:]+(fur\s+|an\s+)?(die\s+|den\s+|das\s+|alle\s+)?(ki|ki-\w+|(e-?)?mail-?assistent\w*|sprachmodell\w*|assistent)\s*([,:;!.-]|die\b|das\b|der\b)`,
		`\bdu\s+bist\s+(jetzt\s+|nun\s+)?(ein\w*\s+)?(\w+\s+)?(ki|ki-\w+|sprachmodell|assistent)\b`),
	newPhrase("ia langage assistant", "note|message|instruction|cher|attention|bonjour",
		`\b(note|message|instructions?|cher|chere|attention|bonjour)[\s,:]+(pour\s+|a\s+|aux?\s+)?(l['\x{2019}]\s*|les?\s+|la\s+)?(ia|modeles?\s+de\s+langage|assistant\s+(ia|virtuel|de\s+messagerie))\b`),
	newPhrase("ia lenguaje linguagem asistente", "nota|mensaje|mensagem|instrucc|estimad|querid|hola|atencion",
		`\b(nota|mensaje|mensagem|instrucciones?|estimad[oa]|querid[oa]|hola|atencion)[\s,:]+(para\s+|al?\s+)?(la\s+|el\s+|o\s+)?(ia|modelo\s+de\s+(lenguaje|linguagem)|asistente\s+(de\s+ia|virtual|de\s+correo))\b`),
	newPhrase("record_decision needs_approval tool_call", "", `\b(record_decision|needs_approval|tool_calls?)\b`),
	newPhrase("<|im_ <|system <|user <|assistant <|endoftext [inst] [/inst] sys>> system> assistant>", "",
		`<\|(im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>|</?(system|assistant)>`),
}

// isMachineTalk reports whether a text gives instructions to a machine.
func isMachineTalk(text string) bool {
	if text == "" {
		return false
	}
	return toMachines.finds("\n" + singleBlanks(lookalike.LatinText(text)))
}

var toMachines = newFinder(slices.Concat(disregard, addressed))

// singleBlanks has a blank, or a line end, for each run of those, so that a phrase is no longer than its words.
func singleBlanks(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' {
			b.WriteByte(c)
			continue
		}
		for i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '\t' || text[i+1] == '\r') {
			if i++; text[i] == '\n' {
				c = '\n'
			}
		}
		if c != '\n' {
			c = ' '
		}
		b.WriteByte(c)
	}
	return b.String()
}

// speaksToMachines checks everything that a model may be shown of a message: visible text, hidden text, comments, and
// the text part that is not shown.
func speaksToMachines(msg *postroom.Message, body *htmltext.Body) bool {
	var short []string
	for _, f := range msg.Headers {
		short = append(short, f.Value)
	}
	for _, a := range slices.Concat([]postroom.Address{msg.From}, msg.ReplyTo, msg.To, msg.Cc) {
		short = append(short, a.Name, a.Email)
	}
	for _, a := range msg.Attachments {
		short = append(short, a.Filename, a.ContentType)
	}
	texts := []string{msg.Subject, strings.Join(short, "\n"), body.Text}
	if body.FromHTML {
		texts = append(texts, msg.BodyPlain)
	}
	for _, hidden := range body.Hidden {
		texts = append(texts, hidden.Text)
	}
	return slices.ContainsFunc(texts, isMachineTalk)
}
