package gmailquery

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Operator is a word before a colon.
type Operator struct {
	Name    string
	Example string
	Finds   string // what it matches, for people

	read func(p *parser, value string) Node // nil: there is nothing to look for
}

// Operators returns all operators of queries.
func Operators() []Operator { return slices.Clone(operators) }

var operators = []Operator{
	{"from", "from:ann", "words of the sender's name and address; `me` is the owner", addressIn(Sender)},
	{"to", "to:example.com", "words of the recipients in To, Cc and Bcc; `me` is the owner", addressIn(Recipient)},
	{"cc", "cc:ann@example.com", "words of the recipients in Cc", addressIn(CC)},
	{"bcc", "bcc:ann", "words of the recipients in Bcc", addressIn(BCC)},
	{"subject", "subject:(dinner movie)", "words of the subject", wordsIn(Subject)},
	{"label", "label:receipts-old-stuff", "messages with the label; blanks and slashes of its name may be hyphens", readLabel},
	{"in", "in:inbox", "as `label`, and `anywhere` (with spam and trash), `archive`, `drafts`, `chats`", readIn},
	{"is", "is:unread", "`unread`, `read`, `starred`, `important` and other labels of Gmail's own; `muted` and `snoozed` find nothing", readIs},
	{"category", "category:promotions", "`primary`, `social`, `promotions`, `updates`, `forums`; others find nothing", readCategory},
	{"has", "has:attachment",
		"`attachment`, `drive`, `document`, `spreadsheet`, `presentation`, `youtube`, `userlabels`, `nouserlabels`, " +
			"`yellow-star`; other stars find nothing", readHas},
	{"filename", "filename:pdf", "words of the names of attachments", wordsIn(Filename)},
	{"larger", "larger:10M", "messages larger than bytes, or K or M of them (1,024 and its square)", readSize(true)},
	{"smaller", "smaller:500K", "messages smaller than that", readSize(false)},
	{"size", "size:1000000", "as `larger`", readSize(true)},
	{"after", "after:2026/03/01",
		"messages received on that day or later; days begin at midnight Pacific standard time; also mm/dd/yyyy, " +
			"hyphens, or seconds since 1970", readDate(true)},
	{"before", "before:1772366400", "messages received before that day or second", readDate(false)},
	{"newer", "newer:2026-03-01", "as `after`", readDate(true)},
	{"older", "older:03/01/2026", "as `before`", readDate(false)},
	{"newer_than", "newer_than:2d", "messages of the last hours (h), days (d), months (m) or years (y)", readAge(true)},
	{"older_than", "older_than:1y", "messages before that", readAge(false)},
	{"list", "list:info@example.com", "words of List-ID and List-Post", wordsIn(List)},
	{"listid", "listid:info.example.com", "as `list`", wordsIn(List)},
	{"deliveredto", "deliveredto:ann@example.com", "words of Delivered-To and X-Delivered-To", wordsIn(Delivered)},
	{"rfc822msgid", "rfc822msgid:200503292@example.com", "the Message-ID, whole and by case, with or without angle brackets", readMessageID},
}

func operatorNamed(name string) *Operator {
	name = strings.ToLower(name)
	for i := range operators {
		if operators[i].Name == name {
			return &operators[i]
		}
	}
	return nil
}

func wordsIn(field Field) func(*parser, string) Node {
	return func(_ *parser, value string) Node { return phrase(field, value) }
}

func phrase(field Field, text string) Node {
	words := Words(text)
	if len(words) == 0 {
		return nil
	}
	return Phrase{Field: field, Words: words}
}

func addressIn(field Field) func(*parser, string) Node {
	return func(p *parser, value string) Node {
		if strings.EqualFold(value, "me") && p.Me != "" {
			value = p.Me
		}
		return phrase(field, value)
	}
}

// own are the keys of Gmail's own labels.
var own = []string{
	"inbox", "unread", "starred", "important", "sent", "draft", "spam", "trash", "chat",
	"category-personal", "category-social", "category-promotions", "category-updates", "category-forums",
}

// labelNames are other names of Gmail's own labels.
var labelNames = map[string]string{"drafts": "draft", "chats": "chat", "junk": "spam", "bin": "trash"}

func readLabel(p *parser, value string) Node {
	key := LabelKey(value)
	if other, ok := labelNames[key]; ok {
		key = other
	}
	if key == "spam" || key == "trash" {
		p.asksForHidden()
	}
	return Label{Key: key}
}

func readIn(p *parser, value string) Node {
	switch strings.ToLower(value) {
	case "anywhere":
		p.asksForHidden()
		return nil
	case "archive":
		return Not{Or{Label{"inbox"}, Label{"sent"}, Label{"draft"}, Label{"chat"}, Label{"spam"}, Label{"trash"}}}
	default:
		return readLabel(p, value)
	}
}

func readIs(p *parser, value string) Node {
	value = strings.ToLower(value)
	if value == "read" {
		return Not{Label{"unread"}}
	}
	if l, ok := readLabel(p, value).(Label); ok && slices.Contains(own, l.Key) {
		return l
	}
	return Never{"is:" + value}
}

func readCategory(_ *parser, value string) Node {
	value = strings.ToLower(value)
	if value == "primary" {
		value = "personal"
	}
	if key := "category-" + value; slices.Contains(own, key) {
		return Label{Key: key}
	}
	return Never{"category:" + value}
}

// Marks are the properties of messages that has: finds.
var Marks = []string{"attachment", "drive", "document", "spreadsheet", "presentation", "youtube"}

func readHas(_ *parser, value string) Node {
	value = strings.ToLower(value)
	switch {
	case slices.Contains(Marks, value):
		return Mark{Name: value}
	case value == "userlabels":
		return UserLabel{}
	case value == "nouserlabels":
		return Not{UserLabel{}}
	case value == "yellow-star":
		return Label{Key: "starred"}
	default:
		return Never{"has:" + value}
	}
}

func readSize(larger bool) func(*parser, string) Node {
	return func(_ *parser, value string) Node {
		digits, unit := value, int64(1)
		lower := strings.TrimSuffix(strings.ToLower(value), "b")
		switch {
		case strings.HasSuffix(lower, "k"):
			digits, unit = lower[:len(lower)-1], 1<<10
		case strings.HasSuffix(lower, "m"):
			digits, unit = lower[:len(lower)-1], 1<<20
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return Never{"size " + value}
		}
		return Size{Larger: larger, Bytes: n * unit}
	}
}

// pacific is the time zone of Gmail's days, without daylight saving.
var pacific = time.FixedZone("PST", -8*60*60)

func readDate(after bool) func(*parser, string) Node {
	return func(_ *parser, value string) Node {
		if at, ok := parseDay(value); ok {
			return Date{After: after, At: at}
		}
		return Never{"date " + value}
	}
}

// farSecond is after all mail.
const farSecond = 1 << 40

// farDay is a day of a year that time.Parse does not read.
var farDay = regexp.MustCompile(`^\d{5,}/\d{1,2}/\d{1,2}$|^\d{1,2}/\d{1,2}/\d{5,}$`)

func parseDay(value string) (time.Time, bool) {
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // of which it gives the largest number
		return time.Unix(min(seconds, farSecond), 0).UTC(), seconds >= 0
	}
	value = strings.NewReplacer("-", "/", ".", "/").Replace(value)
	if farDay.MatchString(value) {
		return time.Unix(farSecond, 0).UTC(), true
	}
	for _, layout := range []string{"2006/1/2", "1/2/2006"} {
		if at, err := time.ParseInLocation(layout, value, pacific); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func readAge(newer bool) func(*parser, string) Node {
	return func(p *parser, value string) Node {
		if value == "" {
			return Never{"no age"}
		}
		last := len(value) - 1
		n, err := strconv.Atoi(value[:last])
		if err != nil || n < 0 || n > 1<<20 {
			return Never{"age " + value}
		}
		at := p.Now
		switch value[last] | 0x20 {
		case 'h':
			at = at.Add(-time.Duration(n) * time.Hour)
		case 'd':
			at = at.AddDate(0, 0, -n)
		case 'm':
			at = at.AddDate(0, -n, 0)
		case 'y':
			at = at.AddDate(-n, 0, 0)
		default:
			return Never{"age " + value}
		}
		return Date{After: newer, At: at}
	}
}

func readMessageID(_ *parser, value string) Node {
	if value = strings.Trim(value, "<>"); value == "" {
		return Never{"no Message-ID"}
	}
	return MessageID{ID: value}
}
