package decide

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// gmailServer is the server whose authentication results are trusted by default.
var gmailServer = authres.Server{ID: "mx.google.com", Below: true}

// leastWords is the minimum number of words of a template: a text of numbers and names alone would equal too many
// others.
const leastWords = 5

// A mailTemplate has the parts that mails of one template have in common.
type mailTemplate struct {
	parts []string
	// newsletter reports that the sender's domain vouches for the mail by DMARC, and that a list sends it.
	newsletter bool
}

// templateOf returns the template of a mail: all that the model is shown of it, without its variables. It returns
// false for mail without a template: that of a person, of a sender who is not authenticated, with attachments, or with
// text hidden from its reader.
func templateOf(msg *postroom.Message, body *htmltext.Body, server authres.Server) (_ mailTemplate, ok bool) {
	header := headerOf(msg)
	list := header.List()
	findings := authres.Read(header, server)
	switch {
	case len(header.Automatic()) == 0:
		return mailTemplate{}, false
	case !findings.Verifies(mime.Address{Name: msg.From.Name, Email: msg.From.Email}):
		return mailTemplate{}, false
	case len(msg.Attachments) > 0, body.Incomplete, body.Words.Disagree(), hidesText(body.Hidden):
		return mailTemplate{}, false
	}
	subject, plain, seen := normalText(msg.Subject), normalText(msg.BodyPlain), normalText(body.Text)
	if words(subject)+max(words(plain), words(seen)) < leastWords {
		return mailTemplate{}, false
	}
	parts := []string{
		strings.ToLower(msg.From.Email), normalText(msg.From.Name), normalText(addresses(msg.To)),
		normalText(addresses(msg.Cc)), subject, plain, seen,
	}
	for _, name := range shownHeaders {
		parts = append(parts, normalText(strings.Join(msg.Header(name), "\n")))
	}
	return mailTemplate{
		parts:      append(parts, linkedTo(body.Links)...),
		newsletter: findings.Result("dmarc") == "pass" && (list.ID != "" || len(msg.Header("list-unsubscribe")) > 0),
	}, true
}

func headerOf(msg *postroom.Message) mime.Header {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// words counts those that are no number and no name.
func words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if strings.IndexFunc(word, unicode.IsLetter) >= 0 {
			n++
		}
	}
	return n
}

// The placeholders for the variables of a template. Text cannot contain them: they are control characters.
const (
	aNumber = "\x02"
	aZero   = "\x03" // "0 failed" and "3 failed" are different news
)

var (
	webAddress = regexp.MustCompile(`https?://[^\s<>"']+`)
	wordLike   = regexp.MustCompile(`[\pL\pM\pN](?:[\pL\pM\pN._:/,\-]*[\pL\pM\pN])?`)
	// pathWord is a part of the path or of the query of an address.
	pathWord = regexp.MustCompile(`[\pL\pM\pN._:,%\-]+`)
	// moment is a date or a time in digits, with the ending that English gives some.
	moment = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`\d{4}[-./]\d{1,2}[-./]\d{1,2}`, `\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})`,
		`\d{1,2}:\d{2}(?::\d{2})?(?:am|pm|h)?`, `\d{1,2}(?:st|nd|rd|th|am|pm|h)`,
		`\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(?::\d{2})?z?`,
	}, "|") + `)$`)
	// A number beside one of these is an amount. The names are those that mail uses most.
	symbol = `[\p{Sc}%]`
	codes  = `aed|afn|all|amd|aoa|ars|aud|awg|azn|bam|bbd|bdt|bgn|bhd|bif|bmd|bnd|bob|brl|bsd|btn|bwp|byn|bzd|cad|cdf|chf|clp|` +
		`cny|cop|crc|cup|cve|czk|djf|dkk|dop|dzd|egp|ern|etb|eur|fjd|gbp|gel|ghs|gip|gmd|gnf|gtq|gyd|hkd|hnl|htg|huf|idr|` +
		`ils|inr|iqd|irr|isk|jmd|jod|jpy|kes|kgs|khr|kmf|krw|kwd|kyd|kzt|lak|lbp|lkr|lrd|lsl|lyd|mad|mdl|mga|mkd|mmk|mnt|` +
		`mop|mru|mur|mvr|mwk|mxn|myr|mzn|nad|ngn|nio|nok|npr|nzd|omr|pab|pen|pgk|php|pkr|pln|pyg|qar|ron|rsd|rub|rwf|sar|` +
		`sbd|scr|sdg|sek|sgd|shp|sle|sos|srd|ssp|stn|syp|szl|thb|tjs|tmt|tnd|top|try|ttd|twd|tzs|uah|ugx|usd|uyu|uzs|ves|` +
		`vnd|vuv|wst|xaf|xcd|xof|xpf|yer|zar|zmw|btc|eth|usdt|usdc|sats?`
	currency = `(?:` + codes + `|euros?|dollars?|pounds?|francs?|franken|kronen?|kronor|kroner|yen|yuan|rupees?|rs|kr|` +
		`cents?|ct|pesos?|rand|lei|leva|lira|zł|zloty|złotych|kč|ft|forint|won|baht|rubles?|руб|грн|лв|real|reais|` +
		`shekels?|dirhams?|riyals?|dinars?|ringgit|naira|rupiah|bitcoins?|percent|prozent)(?:[^\pL]|$)`
	// What announces an amount that names no currency.
	amountWord = `(?:amount|total|sum|balance|price|betrag|gesamt|summe|saldo|preis|montant|solde|importe|importo|bedrag|kwota)`
	// Only signs may stand between a number and what makes it an amount.
	currencyBefore = regexp.MustCompile(`(?:` + symbol + `|(?:^|[^\pL])` + currency + `|` + amountWord + `)[^\pL]*$`)
	currencyAfter  = regexp.MustCompile(`^[^\pL]*(?:` + symbol + `|` + currency + `)`)
	// oneWordAmount is a number with letters at one end, such as usd9400: a currency, or what may be one.
	oneWordAmount = regexp.MustCompile(`^(?:[a-z]+\d+|\d+[a-z]+|(?:` + codes + `)[_-]*\d+|\d+[_-]*(?:` + codes + `))$`)
)

// normalText returns a text in lower case with one space between words, without numbers, dates and identifiers.
func normalText(s string) string {
	s = strings.ToLower(cleantext.OneLine(s))
	var b strings.Builder
	for s != "" {
		at := webAddress.FindStringIndex(s)
		if at == nil {
			at = []int{len(s), len(s)}
		}
		writeNormal(&b, s[:at[0]], wordLike)
		b.WriteString(normalAddress(s[at[0]:at[1]]))
		s = s[at[1]:]
	}
	return b.String()
}

// writeNormal writes a text with placeholders for the variable ones among its words.
func writeNormal(b *strings.Builder, s string, word *regexp.Regexp) {
	const near = 24 // bytes that are looked at for a currency
	done := 0
	for _, at := range word.FindAllStringIndex(s, -1) {
		before, after := s[max(done, at[0]-near):at[0]], s[at[1]:min(len(s), at[1]+near)]
		if filled := filledIn(s[at[0]:at[1]], before, after); filled != "" {
			b.WriteString(s[done:at[0]] + filled)
			done = at[1]
		}
	}
	b.WriteString(s[done:])
}

// normalAddress returns a web address without the numbers and identifiers in its path and its query. Its host, and the
// words of the path and the query, are content.
func normalAddress(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + rest[:at])
	writeNormal(&b, rest[at:], pathWord)
	return b.String()
}

// filledIn returns the placeholder of a word that is a number, a date or an identifier, and "" for any other. What an
// attacker can say in a word is content: an amount, a name of a host or a file, and a word with letters that spell
// something.
func filledIn(s, before, after string) string {
	switch {
	case strings.Trim(s, "0123456789") == "":
		if currencyBefore.MatchString(before) || currencyAfter.MatchString(after) {
			return ""
		}
		if strings.Trim(s, "0") == "" {
			return aZero
		}
		return aNumber
	case moment.MatchString(s), isIdentifier(s) && !oneWordAmount.MatchString(s):
		return aNumber
	}
	return ""
}

// isIdentifier reports whether a word has digits, and not four letters in a row, even across hyphens. A short word with
// a digit, such as 2fa and 401k, is content, as are words of other scripts, in which few letters say much.
func isIdentifier(s string) bool {
	const shortest, leastDigits, fewestLetters = 6, 2, 4
	digits, run := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
			run = 0
		case r >= 'a' && r <= 'z':
			if run++; run >= fewestLetters {
				return false
			}
		case r != '-' && r != '_':
			return false
		}
	}
	return digits >= leastDigits && len(s) >= shortest
}

// linkedTo returns the addresses that the mail links to, each once and in order.
func linkedTo(links []htmltext.Link) []string {
	found := make([]string, 0, len(links))
	for _, l := range links {
		if scheme, _, ok := strings.Cut(l.URL, ":"); ok && !strings.HasPrefix(strings.ToLower(scheme), "http") {
			found = append(found, strings.ToLower(scheme)) // of mailto, only that it is
			continue
		}
		found = append(found, normalAddress(strings.ToLower(l.URL)))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
