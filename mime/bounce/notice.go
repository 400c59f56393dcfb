package bounce

import (
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The bounds of reading a notice in plain words.
const (
	maxNotice           = 64 << 10 // bytes
	maxNoticeLine       = 1000     // bytes; a longer line names no recipient
	maxNoticeRecipients = 1000
)

// readNotice reads a notice without a machine-readable report, as old and unusual mail servers send it.
//
// QUIRK: qmail has a format of its own (QSBMF), and every other program has words of its own. A message is a notice
// if its words are known, or if a mail server sent it and it gives an SMTP reply. Samples: bounce-qmail, bounce-exim,
// bounce-postfix, bounce-sendmail, bounce-exchange, bounce-office365, bounce-yahoo, bounce-gmail, bounce-other.
func readNotice(m *mime.Message) *mime.Bounce {
	failed := failedRecipients(m)
	if len(failed) == 0 && !m.Header.FromDaemon() && !hasNullSender(m) {
		return nil
	}
	text := noticeText(m)
	said := strings.ToLower(strings.ReplaceAll(text, "\u2019", "'"))
	format := noticeFormat(said)
	if format == mime.BounceOther && len(failed) == 0 && (!m.Header.FromDaemon() || !replied.MatchString(text)) {
		return nil
	}
	if m.Root.ContentType == "multipart/report" && m.Leaf("message/disposition-notification",
		"message/feedback-report") != nil {
		return nil
	}
	n := noticeReader{bounce: &mime.Bounce{Format: format}}
	rest := n.read(text)
	for _, address := range failed {
		n.begin(address, -1)
	}
	if len(n.bounce.Recipients) == 0 {
		n.sentence(text)
	}
	n.finish(noticeAction(said), text)
	if len(n.bounce.Recipients) == 0 {
		return nil
	}
	n.bounce.Original = quotedHeader(rest)
	return n.bounce
}

// failedRecipients reads X-Failed-Recipients, which Exim and Gmail write.
func failedRecipients(m *mime.Message) []string {
	var found []string
	m.Header.Each("X-Failed-Recipients", func(f *mime.Field) {
		addresses, _ := mime.ParseAddresses(f.Raw())
		for _, a := range addresses {
			found = append(found, a.Email)
		}
	})
	return found
}

// noticeText returns the first text of the message. A returned message that is shown inline is not part of it.
func noticeText(m *mime.Message) string {
	text := ""
	if p := m.Leaf("text/plain"); p != nil {
		text = p.Text()
	} else if p = m.Leaf("text/html"); p != nil {
		text = htmltext.Text(p.Text())
	}
	if len(text) > maxNotice {
		text = strings.ToValidUTF8(text[:maxNotice], "")
	}
	return textLines.Replace(text)
}

// textLines makes lines end in LF alone, and removes characters that a line must not have.
var textLines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD")

// noticeWords begin the notices of each program, in lower case.
var noticeWords = []struct {
	format mime.BounceFormat
	words  []string
}{
	{mime.BounceQmail, []string{"this is the qmail-send program", "i'm afraid i wasn't able to deliver your message"}},
	{mime.BounceYahoo, []string{"message from yahoo.com", "sorry, we were unable to deliver your message to the following address"}},
	{mime.BounceExim, []string{"this message was created automatically by mail delivery software"}},
	{mime.BouncePostfix, []string{"this is the postfix program at host", "this is the mail system at host"}},
	{mime.BounceSendmail, []string{
		"the following addresses had permanent fatal errors", "the following addresses had transient non-fatal errors",
		"transcript of session follows",
	}},
	{mime.BounceSES, []string{"an error occurred while trying to deliver the mail to the following recipients"}},
	{mime.BounceGmail, []string{
		"delivery to the following recipient failed permanently", "delivery to the following recipients failed permanently",
		"delivery to the following recipient has been delayed", "** address not found **", "** message blocked **",
		"** message not delivered **", "** delivery incomplete **", "** recipient inbox full **",
		"your message wasn't delivered to",
	}},
	{mime.BounceExchange, []string{
		"did not reach some or all of the intended recipients", "delivery has failed to these recipients or",
		"the following recipient(s) could not be reached", "the following recipient(s) cannot be reached",
		"couldn't be delivered.", "delivery to these recipients or groups is delayed",
	}},
}

func noticeFormat(said string) mime.BounceFormat {
	for _, program := range noticeWords {
		if slices.ContainsFunc(program.words, func(words string) bool { return strings.Contains(said, words) }) {
			return program.format
		}
	}
	return mime.BounceOther
}

var delayWords = []string{
	"has been delayed", "not yet been delivered", "warning message only", "delivery incomplete",
	"transient non-fatal errors",
	"no action is required on your part", "do not need to resend", "groups is delayed", "will continue to try",
	"will keep trying",
}

func noticeAction(said string) mime.BounceAction {
	if slices.ContainsFunc(delayWords, func(words string) bool { return strings.Contains(said, words) }) {
		return mime.BounceDelayed
	}
	return mime.BounceFailed
}

// A noticeReader collects recipients from the lines of a notice. A line that begins with an address names a
// recipient, and the lines up to the next one give the reason.
type noticeReader struct {
	bounce *mime.Bounce
	// known finds recipients by address. why holds the lines about each. indent is the indentation of the line that
	// named the last one.
	known  map[string]int
	why    [][]string
	last   int
	indent int
	label  string // before the first recipient, in lower case: "recipient:"; empty without one
}

// read returns the part of the text that quotes the original message, starting at the line that introduces it.
func (n *noticeReader) read(text string) (rest string) {
	n.last = -1
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(line)
		if endsNotice(trimmed) {
			return line + "\n" + text
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		label := strings.ToLower(recipientWord.FindString(trimmed))
		if n.last < 0 {
			n.label = label
		}
		// By a header, or it is told again.
		isQuoted := n.last >= 0 && label != "" && (label != n.label || strings.HasSuffix(label, "to:"))
		if !isQuoted && label != "" && n.several(trimmed[len(label):], indent) {
			continue
		}
		if address, why, ok := noticeRecipient(trimmed); ok && !isQuoted && (n.last < 0 || indent <= n.indent) &&
			n.begin(address, indent) {
			trimmed = why
		}
		n.tell(trimmed)
	}
	return ""
}

// several reads a list of recipients, who share the lines that follow: those are told of the first.
func (n *noticeReader) several(list string, indent int) bool {
	addresses, ok := mime.ParseAddresses(list)
	if !ok || len(addresses) < 2 {
		return false
	}
	for _, a := range addresses {
		n.begin(a.Email, indent)
	}
	return true
}

// begin makes the address the subject of the next lines. It reports whether the address is new.
func (n *noticeReader) begin(address string, indent int) bool {
	key := strings.ToLower(address)
	if n.known == nil {
		n.known = map[string]int{}
	}
	if i, known := n.known[key]; known {
		n.last = i
		return false
	}
	if len(n.bounce.Recipients) == maxNoticeRecipients {
		return false
	}
	n.last, n.indent = len(n.bounce.Recipients), indent
	n.known[key] = n.last
	n.bounce.Recipients = append(n.bounce.Recipients, mime.BounceRecipient{Final: address})
	n.why = append(n.why, nil)
	return true
}

func (n *noticeReader) tell(line string) {
	if n.last < 0 {
		return
	}
	n.why[n.last] = append(n.why[n.last], line)
	if found := generatedFrom.FindStringSubmatch(line); found != nil && n.bounce.Recipients[n.last].Original == "" {
		n.bounce.Recipients[n.last].Original = found[1]
	}
}

// sentence reads a notice that names its recipient within a sentence.
func (n *noticeReader) sentence(text string) {
	for _, found := range namedInSentence.FindAllStringSubmatch(text, maxNoticeRecipients) {
		n.begin(strings.TrimRight(found[1], ".,"), 0)
	}
}

// finish sets the diagnostic of each recipient. A recipient without lines of its own gets the diagnostic of the whole
// notice.
func (n *noticeReader) finish(action mime.BounceAction, text string) {
	whole := sync.OnceValue(func() string { return diagnosticLines(strings.Split(text, "\n")) })
	for i := range n.bounce.Recipients {
		r := &n.bounce.Recipients[i]
		r.Action = action
		if r.Diagnostic = diagnosticLines(n.why[i]); r.Diagnostic == "" {
			r.Diagnostic = whole()
		}
	}
}

var (
	noticeAddress = `[<\[]?([^\s<>()@:;,"']+@[^\s<>()@:;,"'\]\[]+[^\s<>()@:;,"'\]\[.])[>\]]?`
	// startsWithAddress matches a line that names a recipient, in the forms of the various programs: alone, before a colon
	// (qmail, Postfix, Yahoo), dots (sendmail), a date (Exchange) or codes (Zoho), after a name (Outlook, Office 365).
	startsWithAddress = regexp.MustCompile(`^` + noticeAddress +
		`(?:\s*\([^()]*\))?(?:$|\s*[:;]\s*(.*)$|\s*\.\.\.\s*(.*)$|\s+on\s+(?:[A-Za-z]{2,4},?\s+)?[0-9].*$|` +
		`,?\s+([^<>@]{0,60}\bERROR[_ ]CODE ?:.*)$)`)
	zohoStatus    = regexp.MustCompile(`^\[Status: [^,@]{1,40}, Address: ` + noticeAddress + `, (.*?)\]?$`)
	recipientWord = regexp.MustCompile(`(?i)^(?:(?:failed |final |original )?recipients?(?: address)?|to|rcpt to)[:=]`)
	afterCode     = regexp.MustCompile(
		`^[45][0-9]{2}[ -](?:[45]\.[0-9]{1,3}\.[0-9]{1,3} )?` + noticeAddress + `(?:\.\.\.|,) `) // sendmail
	behindName      = regexp.MustCompile(`^[^<>@()]{1,100}[(<]` + noticeAddress + `(?:<mailto:[^<>]*>)?[)>]$`)
	namedInSentence = regexp.MustCompile(
		`(?i)\b(?:failed to deliver to|message (?:to|(?:was|could)(?:n['\x{2019}]t| not) (?:be )?delivered to))\s+['"]?` + noticeAddress)
	generatedFrom = regexp.MustCompile(`\((?:ultimately )?(?:generated|expanded) from:? <?([^\s<>()]+@[^\s<>()]+)>?\)`)
)

// noticeRecipient reads a line that names a recipient, and the rest of the line.
func noticeRecipient(line string) (address, why string, ok bool) {
	if len(line) > maxNoticeLine || !strings.Contains(line, "@") {
		return "", "", false
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, recipientWord.FindString(line)))
	if found := startsWithAddress.FindStringSubmatch(line); found != nil {
		why = found[2] + found[3] + found[4]
		if generated := generatedFrom.FindString(line); generated != "" {
			why = generated + " " + why
		}
		return found[1], why, true
	}
	if found := zohoStatus.FindStringSubmatch(line); found != nil {
		return found[1], found[2], true
	}
	if found := afterCode.FindStringSubmatch(line); found != nil {
		return found[1], line, true
	}
	if found := behindName.FindStringSubmatch(line); found != nil && !strings.Contains(found[0], ":\u0020") {
		return found[1], "", true
	}
	return "", "", false
}

// endsNotice reports whether a line introduces the original message or other text that is not for people.
func endsNotice(line string) bool {
	if len(line) < 5 || len(line) > 100 {
		return false
	}
	line = strings.ToLower(line)
	if strings.HasPrefix(line, "reporting-mta:") || strings.HasPrefix(line, "original message headers:") ||
		strings.HasPrefix(line, "message-id:") || strings.HasPrefix(line, "return-path: <") {
		return true
	}
	if !strings.HasPrefix(line, "--") || !strings.Contains(line, "message") && !strings.Contains(line, "header") {
		return false
	}
	return slices.ContainsFunc([]string{"copy", "original", "below", "follow", "returned", "header", "unsent"},
		func(word string) bool {
			return strings.Contains(line, word)
		})
}

// diagnosticLines picks the line with a server's reply and its continuation, otherwise the paragraph that is
// announced as the server's words, otherwise the first paragraph with any words.
func diagnosticLines(lines []string) string {
	begin := slices.IndexFunc(lines, func(line string) bool {
		return replied.MatchString(line) || enhancedCode(line) != ""
	})
	if begin < 0 {
		begin = 1 + slices.IndexFunc(lines, func(line string) bool {
			return strings.HasSuffix(strings.TrimSpace(line), " was:")
		})
	}
	var kept []string
	for _, line := range lines[begin:] {
		line = strings.TrimSpace(line)
		if line == "" && len(kept) == 0 {
			continue
		}
		if line == "" || len(kept) > 10 || endsNotice(line) {
			break
		}
		kept = append(kept, line)
	}
	return fieldvalue.Diagnostic(strings.Join(kept, " "))
}

// quotedHeader reads the header of a message that is quoted in a notice.
func quotedHeader(text string) mime.Header {
	for _, group := range mime.ParseHeaders([]byte(text)) {
		if group.Get("Message-ID") != "" || group.Get("Received") != "" || group.Get("Subject") != "" &&
			group.Get("From") != "" {
			return group
		}
	}
	return nil
}
