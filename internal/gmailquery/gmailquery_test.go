package gmailquery_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/gmailquery"
)

var update = flag.Bool("update", false, "write the golden file")

var options = gmailquery.Options{Now: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC), Me: "me@example.com"}

func parse(t *testing.T, q string) gmailquery.Query {
	t.Helper()
	query, err := gmailquery.Parse(q, options)
	require.NoError(t, err)
	return query
}

// show is a query as the golden file has it.
func show(query gmailquery.Query) string {
	text := "everything"
	if query.Root != nil {
		text = query.Root.String()
	}
	if query.Hidden {
		text += " with spam and trash"
	}
	return text
}

// Each line of queries.txt is a query and, after a tab, the tree it becomes.
func TestParseGolden(t *testing.T) {
	const name = "testdata/queries.txt"
	golden, err := os.ReadFile(name)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(golden)) {
		q, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		lines = append(lines, q+"\t"+show(parse(t, q)))
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o600))
		return
	}
	require.Equal(t, string(golden), got, "go test ./internal/gmailquery -update writes it")
}

func TestParseIsBounded(t *testing.T) {
	for name, q := range map[string]string{
		"many terms":            strings.Repeat("a ", 401),
		"deep":                  strings.Repeat("(", 51) + "a",
		"deep braces":           strings.Repeat("-{", 5000),
		"one long phrase":       strings.Repeat("a-", 1001),
		"many phrases":          strings.Repeat("a-b-c-d-e ", 201),
		"operators in a row":    strings.Repeat("from: ", 401),
		"a long quotation":      `"` + strings.Repeat("a ", 1001) + `"`,
		"letters of a sentence": "subject:" + strings.Repeat("\u6f22", 1001),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gmailquery.Parse(q, options)
			require.ErrorIs(t, err, gmailquery.ErrTooLong)
		})
	}
	parse(t, strings.Repeat("a ", 400))
	parse(t, strings.Repeat("(", 50)+"a")
}

func TestEveryOperatorHasAnExample(t *testing.T) {
	for _, operator := range gmailquery.Operators() {
		t.Run(operator.Name, func(t *testing.T) {
			require.True(t, strings.HasPrefix(operator.Example, operator.Name+":"))
			tree := show(parse(t, operator.Example))
			require.NotContains(t, tree, "never")
			require.NotContains(t, tree, "anywhere", "it is read as an operator, not as words")
			require.NotEmpty(t, operator.Finds)
		})
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"Hello, World!":                 "hello world",
		"Ann.Lee+news@mail.example.com": "ann lee news mail example com",
		"Café  RÉSUMÉ naïve":            "cafe resume naive",
		"Straße STRASSE":                "strasse strasse",
		"don't e-mail foo_bar":          "don t e mail foo bar",
		"1,000.50 v2":                   "1 000 50 v2",
		"日本語abc":                        "日 本 語 abc",
		"ﾃｽﾄ":                           "テ ス ト",
		"한국어":                           "한 국 어",
		"Привет ЁЖ":                     "привет еж",
		"ＦＵＬＬ width":                    "full width",
		"zero\u200bwidth so\u00adft":    "zero width so ft",
		"\xff\xfebytes\xf5\u021e\x00":   "bytes h",
		"Διεύθυνση":                     "διευθυνση",
		"İstanbul":                      "istanbul",
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, strings.Fields(want), append([]string{}, gmailquery.Words(text)...))
		})
	}
}

func words(text string) []string { return gmailquery.Words(text) }

// letter is the message that the queries below are held against.
var letter = gmailquery.Document{
	Words: map[gmailquery.Field][]string{
		gmailquery.Sender:    words("Ann Lee <ann.lee@mail.example.com>"),
		gmailquery.Recipient: append(append(words("me@example.com"), gmailquery.Gap), words("bob@example.org")...),
		gmailquery.CC:        words("bob@example.org"),
		gmailquery.Subject:   words("Dinner at the café on Friday"),
		gmailquery.Body:      words("The holiday plan: we leave for a long vacation in May. It's unsubscribed."),
		gmailquery.Filename:  words("homework.v2.pdf"),
		gmailquery.List:      words("<info.lists.example.com>"),
		gmailquery.Delivered: words("me+food@example.com"),
	},
	Labels:    []string{"inbox", "unread", "receipts-old-stuff"},
	UserLabel: true,
	Marks:     []string{"attachment"},
	Received:  time.Date(2026, 3, 30, 11, 0, 0, 0, time.UTC),
	Size:      2048,
	MessageID: "X@example.com",
}

func TestMatch(t *testing.T) {
	for _, q := range []string{
		"", "dinner", "DINNER", "cafe", "café", `"at the cafe"`, "dinner holiday", "ann", "lee", "ann.lee", "pdf",
		"homework.v2",
		"from:ann", "from:example.com", "from:@mail.example.com", "from:ann.lee@mail.example.com", "from:(ann lee)", "to:me", "to:bob",
		"to:example.org", "cc:bob", "subject:friday", "subject:(friday dinner)", "-movie", "movie OR dinner", "{movie dinner}",
		"label:receipts-old-stuff", `label:"Receipts/Old stuff"`, "in:inbox", "is:unread", "-is:read", "has:attachment", "has:userlabels",
		"filename:pdf", "filename:homework", "filename:homework.v2.pdf", "larger:2047", "smaller:3K", "-larger:2K", "newer_than:2d",
		"older_than:1d", "after:2026/03/30", "before:2026/03/31", "after:1774868400", "list:info.lists.example.com", "list:example.com",
		"deliveredto:me+food@example.com", "rfc822msgid:X@example.com", "rfc822msgid:<X@example.com>", "holiday AROUND 6 vacation",
		"vacation AROUND 6 holiday", `"holiday AROUND 6 vacation"`, "it's", "+dinner", "in:anywhere",
	} {
		t.Run("finds "+q, func(t *testing.T) {
			require.True(t, gmailquery.Match(parse(t, q), &letter), show(parse(t, q)))
		})
	}
	for _, q := range []string{
		"din", "inner", "dinners", "subscribe", `"dinner the"`, "dinner movie", "from:bob", "from:le", "from:ample.com", "to:ann", "bcc:bob",
		"subject:holiday", "-dinner", "-(dinner OR movie)", "label:receipts", "in:spam", "is:read", "is:starred", "has:drive",
		"has:nouserlabels", "filename:doc", "larger:2K", "smaller:2K", "newer_than:1d", "older_than:2d", "after:2026/03/31",
		"before:2026/03/30", "before:1774868400", "list:other", "info.lists", "food", "deliveredto:bob", "rfc822msgid:x@example.com",
		"holiday AROUND 5 vacation", "holiday AROUND 9 holiday", "me AROUND 9 ann", `"com bob"`, "is:snoozed", "in:archive", "after:soon",
	} {
		t.Run("does not find "+q, func(t *testing.T) {
			require.False(t, gmailquery.Match(parse(t, q), &letter), show(parse(t, q)))
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, q := range []string{`a OR b -{c "d e"} subject:(f AROUND 3 g)`, "in:anywhere larger:1M", `"a AROUND 2 b" (`,
		"from:me | -é"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		query, err := gmailquery.Parse(q, options)
		if err != nil {
			require.ErrorIs(t, err, gmailquery.ErrTooLong)
			return
		}
		again, err := gmailquery.Parse(q, options)
		require.NoError(t, err)
		require.Equal(t, show(query), show(again))
		found := gmailquery.Match(query, &letter)
		negated, err := gmailquery.Parse("-("+q+")", options)
		if err == nil && query.Root != nil && !strings.ContainsAny(q, `)}"`) {
			require.NotEqual(t, found, gmailquery.Match(negated, &letter), show(query))
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add("Ünïcode 日本語 \u0130\u1e9e")
	f.Fuzz(func(t *testing.T, text string) {
		found := gmailquery.Words(text)
		require.Equal(t, found, gmailquery.Words(strings.Join(found, " ")), "words are words of themselves")
	})
}

// A query reads the fields that it looks into, each once, and no more than it has to.
func TestMatchReadsWhatItLooksInto(t *testing.T) {
	for q, want := range map[string][]gmailquery.Field{
		"from:ann -from:bob":         {gmailquery.Sender},
		"subject:tea from:ann":       {gmailquery.Subject},
		"from:ann subject:\"a tea\"": {gmailquery.Sender, gmailquery.Subject},
		"larger:1M tea":              nil,
		"ann":                        {gmailquery.Sender},
		"subject:(a AROUND 2 b)":     {gmailquery.Subject},
	} {
		var read []gmailquery.Field
		d := gmailquery.Document{Read: func(f gmailquery.Field) []string {
			read = append(read, f)
			return map[gmailquery.Field][]string{gmailquery.Sender: {"ann"}}[f]
		}}
		gmailquery.Match(parse(t, q), &d)
		require.Equal(t, want, read, q)
	}
}
