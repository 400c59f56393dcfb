package injection

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/mime/lookalike"
)

// A phrase is said to models, and hardly ever to people. It is searched in the result of [lookalike.LatinText], and only in a text
// that has one of the words, which is faster.
type phrase struct {
	words []string
	said  *regexp.Regexp
}

// newPhrase returns a phrase that one of the expressions matches.
func newPhrase(words string, expressions ...string) phrase {
	return phrase{strings.Split(words, "|"), regexp.MustCompile(strings.Join(expressions, "|"))}
}

// disregard are requests to forget a model's instructions, in several languages.
var disregard = []phrase{
	newPhrase("instruct|prompt|rules|direct|guideline",
		`\b(ignore|disregard|forget|override|bypass|skip)\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+|my\s+|these\s+)?(previous|prior|above|earlier|preceding|existing|original|system)\s+(system\s+)?(instructions?|prompts?|rules|directions|guidelines|directives)\b`,
		`\b(ignore|disregard|forget|override|bypass)\s+(all\s+|any\s+)?(of\s+)?your\s+(own\s+|other\s+)?(instructions?|prompts?|rules|directions|guidelines|directives)\b`,
		`\b(don't|do\s+not|stop)\s+(follow|obey)(ing)?\s+(the\s+|your\s+|any\s+|all\s+)*(previous|prior|above|earlier|original|system)\s+(instructions?|prompts?|rules|directions|guidelines)\b`,
		`\bsystem[\s-]prompt\b`),
	newPhrase("told|said", `\b(ignore|disregard|forget)\s+(everything|anything|all|what)\s+(that\s+)?(you\s+were|you\s+have\s+been|you've\s+been|was)\s+(told|said|given)\b`),
	newPhrase("anweis|anordn|instruk|vorgabe|regeln|befehl|prompt",
		`\b(ignorier\w*|missacht\w*|vergiss|vergesst|vergessen|ubergeh\w*|uberspring\w*)\s+(\w+\s+){0,3}(vorherig|bisherig|obig|fruher|vorig|vorangegang|vorangeh|ursprunglich|system)\w*\s+(anweisung|anordnung|instrukt|vorgabe|regel|befehl|prompt)\w*`),
	newPhrase("instructions|consignes|directives|regles|ordres",
		`\b(ignor|oubli|neglig)\w*\s+(\w+\s+){0,3}(instructions?|consignes|directives|regles|ordres)\s+(qui\s+)?(precedent|anterieur|initial|ci-dessus|systeme|donne)\w*`),
	newPhrase("instruc|indicac|ordenes|reglas|directri|regras",
		`\b(ignor|olvid|descart|desatiend|omit|esque)\w*\s+(\w+\s+){0,3}(instrucciones|indicaciones|ordenes|reglas|directrices|instrucoes|regras|diretrizes)\s+(anterior|previa|inicial|original|de\s+arriba|acima|del?\s+sistema|do\s+sistema)\w*`,
		`\b(ignor|olvid|esque)\w*\s+(\w+\s+){0,3}(anteriores|previas)\s+(instrucciones|indicaciones|ordenes|reglas|instrucoes|regras)\b`),
	newPhrase("istruzion|instructies", `\bignora\w*\s+(\w+\s+){0,3}istruzioni\s+(precedent|iniziali|sopra|di\s+sistema)`,
		`\b(negeer|vergeet)\s+(\w+\s+){0,3}(vorige|eerdere|bovenstaande|voorgaande)\s+instructies\b`),
}

// addressed are texts that address a machine.
var addressed = []phrase{
	newPhrase("ai|llm|language|gpt|claude|gemini|copilot",
		`\b(attention|instructions?\s+(for|to)|note\s+(for|to)|message\s+(for|to)|to|dear|hey|hello)[\s,:]+(the\s+|any\s+|all\s+)?(ai|llm|(large\s+)?language\s+models?|gpt|chatgpt|claude|gemini|copilot)\s*([,:;!.-]|that\b|which\b|who\b|reading\b|processing\b|assistants?\b|agents?\b|models?\b|systems?\b)`,
		`\b(attention|instructions?\s+(for|to)|note\s+(for|to)|message\s+(for|to)|dear|hey|hello)[\s,:]+(the\s+|any\s+|all\s+)?(ai|llm|language\s+model|gpt|chatgpt|claude|gemini|copilot)\b`,
		`\b(ai|llm)\s+(assistants?|agents?|models?|systems?|classifiers?)\b[^.!?\n]{0,60}\b(must|should|shall|please|are\s+required|are\s+instructed|reading|processing|summari[sz]ing)\b`,
		`\byou\s+are\s+(now\s+)?(an?\s+|the\s+)?(ai|llm|language\s+model|gpt)\b`),
	newPhrase("assistant|bot|classifier|filter",
		`\b(dear|hey|hi|hello|attention|(note|message|instructions?)\s+(for|to))[\s,:]+(the\s+|my\s+|any\s+|all\s+)?((e-?)?mail\s+|inbox\s+|virtual\s+|digital\s+|automated\s+|sorting\s+)*(assistants?|bots?|chatbots?|classifiers?|filters?)\s*[,:;!.-]`,
		`\byou\s+are\s+(now\s+)?(an?\s+|the\s+)?(e-?mail|mail|helpful|virtual)\s+assistant\b`,
		`(^|\n)[ \t>*]*(assistant|system)\s*:[^\n]{0,80}\b(tool|ignore|archive|trash|delete|forward|classify|confidence|decision|instructions?)\b`),
	newPhrase("system:", `(^|\n)[ \t>*]*system\s*:[^\n]{0,80}\b(tool|ignore|archive|trash|delete|forward|classify|confidence|decision|instructions?)\b`),
	newPhrase("tool|function", `\b(call|use|invoke)\s+(the\s+)?(tool|function)s?\b[^.\n]{0,40}\b(action|decision|trash|archive|delete|forward|move)\b`),
	newPhrase("ki|sprachmodell|assistent",
		`\b(hinweis|nachricht|anweisung\w*|achtung|liebe[rs]?|hallo|botschaft)[\s,:]+(fur\s+|an\s+)?(die\s+|den\s+|das\s+|alle\s+)?(ki|ki-\w+|(e-?)?mail-?assistent\w*|sprachmodell\w*|assistent)\s*([,:;!.-]|die\b|das\b|der\b)`,
		`\bdu\s+bist\s+(jetzt\s+|nun\s+)?(ein\w*\s+)?(\w+\s+)?(ki|ki-\w+|sprachmodell|assistent)\b`),
	newPhrase("ia|langage|virtuel",
		`\b(note|message|instructions?|cher|chere|attention|bonjour)[\s,:]+(pour\s+|a\s+|aux?\s+)?(l['\x{2019}]\s*|les?\s+|la\s+)?(ia|modeles?\s+de\s+langage|assistant\s+(ia|virtuel|de\s+messagerie))\b`),
	newPhrase("ia|lenguaje|linguagem|asistente",
		`\b(nota|mensaje|mensagem|instrucciones?|estimad[oa]|querid[oa]|hola|atencion)[\s,:]+(para\s+|al?\s+)?(la\s+|el\s+|o\s+)?(ia|modelo\s+de\s+(lenguaje|linguagem)|asistente\s+(de\s+ia|virtual|de\s+correo))\b`),
	newPhrase("record_decision|needs_approval|tool_call", `\b(record_decision|needs_approval|tool_calls?)\b`),
	newPhrase("<|[", `<\|(im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>|</?(system|assistant)>`),
}

func isMachineTalk(text string) bool {
	if text == "" {
		return false
	}
	text = lookalike.LatinText(text)
	said := func(p phrase) bool {
		return slices.ContainsFunc(p.words, func(word string) bool { return strings.Contains(text, word) }) && p.said.MatchString(text)
	}
	return slices.ContainsFunc(disregard, said) || slices.ContainsFunc(addressed, said)
}

// speaksToMachines checks everything that a model may be shown of a message: visible text, hidden text, comments, and the text
// part that is not shown.
func speaksToMachines(msg *postroom.Message, body htmltext.Body) bool {
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
