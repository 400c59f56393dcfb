package reply

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// A fieldSet is a set of header fields as mail programs show them above a quotation.
type fieldSet uint8

const (
	fieldFrom fieldSet = 1 << iota
	fieldSent
	fieldTo
	fieldSubject
	fieldOther
)

func (s fieldSet) count() int { return bits.OnesCount8(uint8(s)) }

// fieldNames are the names of those fields in the languages of the mail programs, in lower case.
var fieldNames = fieldsByName(map[fieldSet]string{
	fieldFrom: "from|von|de|da|van|från|fra|lähettäjä|od|от|от кого|差出人|发件人|寄件者|寄件人|보낸 사람|보낸사람",
	fieldSent: "sent|message du|date|gesendet|datum|envoyé|envoyé le|enviado|enviado el|enviada em|enviado em|fecha|data|inviato|" +
		"verzonden|skickat|sendt|dato|lähetetty|päivämäärä|wysłano|wysłany|отправлено|дата|送信日時|日付|日時|发送时间|日期|寄件日期|보낸 날짜|날짜",
	fieldTo:      "to|an|à|a|para|aan|till|til|vastaanottaja|do|кому|宛先|收件人|收件者|받는 사람|받는사람|pour",
	fieldSubject: "subject|sujet|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|aihe|temat|тема|件名|主题|主旨|제목",
	fieldOther:   "cc|copie à|copie|bcc|kopie|kopia|kopi|копия|抄送|副本|참조|reply-to|antwort an|attachments|anlagen|importance|priority|répondre à",
})

func fieldsByName(names map[fieldSet]string) map[string]fieldSet {
	byName := map[string]fieldSet{}
	for class, list := range names {
		for name := range strings.SplitSeq(list, "|") {
			byName[name] = class
		}
	}
	return byName
}

// fieldClass returns the header field that a line shows; 0 if it shows none. Names may be bold, and have blanks after
// them.
func fieldClass(line string) fieldSet {
	const longest = 40
	end := strings.IndexAny(line[:min(len(line), longest)], ":\uFF1A")
	if end < 0 {
		return 0
	}
	return fieldNames[strings.ToLower(strings.Trim(line[:end], " \t*\u00A0"))]
}

// separators are the words that mail programs write, between dashes, above a quoted or forwarded message, in lower
// case.
var separators = words(`original message|original appointment|forwarded message|reply message|replied message|
ursprüngliche nachricht|ursprüngliche mail|originalnachricht|weitergeleitete nachricht|
message d'origine|message original|message initial|message transféré|mail original|
mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|mensagem original|mensagem encaminhada|mensagem reencaminhada|
oorspronkelijk bericht|oorspronkelijke bericht|origineel bericht|doorgestuurd bericht|
ursprungligt meddelande|originalmeddelande|vidarebefordrat meddelande|vidarebefordrat mail|
oprindelig meddelelse|oprindelig besked|original meddelelse|videresendt meddelelse|videresendt besked|
opprinnelig melding|opprinnelig e-post|videresendt melding|alkuperäinen viesti|välitetty viesti|edelleenlähetetty viesti|
wiadomość oryginalna|oryginalna wiadomość|wiadomość przekazana dalej|przekazana wiadomość|
исходное сообщение|пересылаемое сообщение|пересланное сообщение|
元のメッセージ|転送メッセージ|原始邮件|原始郵件|转发邮件|转发的邮件|轉寄郵件|回复的原邮件|원본 메시지|전달된 메시지|원본 메일`)

// beginnings are the same for Apple Mail, which writes no dashes.
var beginnings = words(`begin forwarded message|anfang der weitergeleiteten nachricht|début du message réexpédié|début du message transféré|
inicio del mensaje reenviado|inizio messaggio inoltrato|início da mensagem encaminhada|início da mensagem reencaminhada|
begin doorgestuurd bericht|vidarebefordrat brev|start på videresendt besked|videresendt melding|välitetty viesti alkaa|
początek przekazywanej wiadomości|начало переадресованного сообщения|転送されたメッセージ|下面是被转发的邮件`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.SplitSeq(strings.ReplaceAll(list, "\n", ""), "|") {
		set[word] = true
	}
	return set
}

// isSeparator reports whether a line separates a message from its quotation.
func isSeparator(line string) bool {
	const longest = 120
	if len(line) > longest {
		return false
	}
	line = strings.ToLower(strings.ReplaceAll(line, "\u2019", "'"))
	core := strings.Trim(line, "-_=* \u00A0")
	if len(line)-len(strings.TrimLeft(line, "-_=*")) >= 2 {
		return separators[core] || strings.HasPrefix(core, "forwarded by ")
	}
	return beginnings[strings.TrimRight(core, " :\u00A0\uFF1A")]
}

// wroteWords are the verbs of lines of attribution, in lower case.
var wroteWords = strings.Split(
	"wrote| writes| schrieb| schreibt| a écrit| escribió| ha scritto| scrisse| escreveu| schreef| geschreven| skrev| kirjoitti|"+
		" napisał| írta| pisze| написал| пишет| писал|写道|寫道|書きました|님이 작성|작성", "|")

// openers begin lines of attribution, in lower case.
var openers = strings.Split("on |am |le |el |il |in data |em |op |den |w dniu |dnia |a la |at |---- on ", "|")

var (
	// endsWithAddress matches the end of an attribution whose verb is elsewhere or missing.
	endsWithAddress = regexp.MustCompile(`[<(]\s*(?:mailto:)?[^\s<>()@]+@[^\s<>()@]+[>)]+\s*[:\x{FF1A}]$`)
	clockOrDate     = regexp.MustCompile(
		`\d{1,2}[:.h]\d{2}|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\b(?:19|20)\d{2}\b|(?:19|20)\d{2}[年년]`)
)

// endsAttribution reports whether a line can be the last of an attribution.
func endsAttribution(line string) bool {
	if endsInColon(line) {
		return true
	}
	line = strings.TrimRight(line, "- ")
	return strings.HasSuffix(line, " wrote") || line == "wrote"
}

func endsInColon(line string) bool {
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "\uFF1A")
}

// beginsAttribution reports whether a line can be the first of several.
func beginsAttribution(line string) bool {
	said := strings.ToLower(line)
	return clockOrDate.MatchString(said) || strings.Contains(said, "@") ||
		slices.ContainsFunc(openers, func(opener string) bool { return strings.HasPrefix(said, opener) })
}

// isAttribution judges the joined lines of one. It requires a date, a person or both, and a verb; less if quote marks
// follow.
func isAttribution(line string, isQuoted bool) bool {
	said := strings.ToLower(line)
	hasVerb := slices.ContainsFunc(wroteWords, func(verb string) bool { return strings.Contains(said, verb) }) ||
		endsWithAddress.MatchString(said)
	hasDate := clockOrDate.MatchString(said)
	hasPerson := strings.Contains(said, "@") ||
		slices.ContainsFunc(openers, func(opener string) bool { return strings.HasPrefix(said, opener) })
	if isQuoted {
		return hasVerb || hasDate && hasPerson
	}
	return hasVerb && hasDate && hasPerson && (endsInColon(line) || strings.Contains(said, "@"))
}
