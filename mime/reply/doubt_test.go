package reply_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/reply"
)

// Where a line could be taken for something else: what decides. Blank lines are left out of the labels, as in the
// samples.
func TestSplitReplyInDoubt(t *testing.T) {
	for name, sample := range map[string]string{
		// Quotations
		"the first line is a quotation":             "Q|> Ten?\nW|Yes.\n",
		"a mark of full width":                      "Q|＞ Ten?\nW|Yes.\n",
		"From at the top of a quotation":            "Q|>From Bob:\nQ|> Ten?\n",
		"From at the end of a quotation":            "Q|> Ten?\nQ|>From Bob\n",
		"From as the first line":                    "W|>From the start it was wrong.\nW|Ada\n",
		"From as the last line":                     "W|Ada\nW|>From the start it was wrong.\n",
		"an address before a quoted colon":          "W|Write to a@x.example\nQ|> Bob:\n",
		"less-than before a quoted colon":           "W|a < b\nQ|> Note:\n",
		"an address wrapped before a quotation":     "W|Bob <bob@x.example\nQ|> Ten?\n",
		"text behind the quotation under two heads": "A|---- Forwarded message ----\n |\nA|On 5 Jan 2026 10:00, Bob wrote:\nQ|> Ten?\n |\nW|Yes.\n",

		// Separators and rules
		"a separator above text":             "W|Yes.\nA|-----Original Message-----\nQ|Ten?\n",
		"a separator as the last line":       "W|Yes.\nA|-----Original Message-----\n",
		"a separator above two fields":       "A|----- Original Message -----\nA|From: Bob\nA|Subject: X\n |\nQ|Ten?\n",
		"two dashes are a separator":         "A|--Original Message--\nQ|Ten?\n",
		"one dash is none":                   "W|-Original Message-\nW|Ten?\n",
		"Lotus Notes":                        "A|---------------------- Forwarded by Bob/Example on 01/05/2026 10:00 AM ---------------------------\nQ|Ten?\n",
		"a line too long to be a separator":  "W|---------- Forwarded by " + strings.Repeat("x", 100) + "\nW|Ten?\n",
		"a rule as the last line":            "W|Yes.\nW|________________\n",
		"a rule of four above fields":        "A|====\nA|From: Bob\nA|To: Ada\nA|Subject: X\nQ|Ten?\n",
		"three of them are no rule":          "W|===\nA|From: Bob\nA|To: Ada\nA|Subject: X\nQ|Ten?\n",
		"a separator of Gmail above a quote": "A|---------- Forwarded message ---------\nQ|> Ten?\nW|Yes.\n",

		// Blocks of header fields
		"a field in the text quoted":            "A|From: Bob\nA|To: Ada\nA|Subject: X\n |\nQ|Subject: cake\n",
		"a field that is folded":                "A|From: Bob\nA|Sent: Monday\nA|To: Ada,\nA|Eve\nA|Subject: X\n |\nQ|Ten?\n",
		"the last field is folded":              "A|From: Bob\nA|Subject: X\nA|To: Ada,\nA|Eve\n |\nQ|Ten?\n",
		"text right below the fields":           "A|From: Bob\nA|To: Ada\nA|Subject: X\nQ|Hello Ada,\nQ|Ten?\n",
		"blank lines between the fields":        "A|From: Bob\n |\nA|To: Ada\n |\nA|Subject: X\n |\nQ|Ten?\n",
		"From as the last field":                "A|To: Ada\nA|Subject: X\nA|Date: 5 Jan\n |\nA|From: Bob\n |\nQ|Ten?\n",
		"four lines between the fields":         "A|From: Bob\nA|a\nA|b\nA|c\nA|d\nA|To: Ada\nA|Subject: X\nQ|Ten?\n",
		"five lines between the fields":         "W|From: Bob\nW|a\nW|b\nW|c\nW|d\nW|e\nW|To: Ada\nW|Subject: X\nW|Ten?\n",
		"three blank lines between the fields":  "W|From: Bob\n |\n |\n |\nW|To: Ada\nW|Subject: X\nW|Ten?\n",
		"fields without From":                   "W|To: Ada\nW|Subject: X\nW|Date: 5 Jan\nW|Ten?\n",
		"two fields alone":                      "W|From: Bob\nW|Subject: X\nW|Ten?\n",
		"the same field three times":            "W|From: Bob\nW|From: Eve\nW|From: Ada\nW|Ten?\n",
		"a colon far behind a name is no field": "W|From: Bob\nW|To: Ada\nW|" + strings.Repeat(" ", 40) + "Subject" + strings.Repeat(" ", 40) + ": X\nW|Ten?\n",

		// Attributions
		"an attribution of four lines":           "A|On Mon, 5 Jan 2026\nA|Bob\nA|Baker\nA|of X wrote:\nQ|> Ten?\n",
		"five lines are none":                    "W|On Mon, 5 Jan 2026\nW|Bob\nW|Q.\nW|Baker\nA|of X wrote:\nQ|> Ten?\n",
		"an attribution as the last line":        "W|Yes.\nA|On 5 Jan 2026 10:00, Bob wrote:\n",
		"no mark and no address":                 "A|On 5 Jan 2026, Bob wrote:\n |\nQ|Ten?\n",
		"a blank line within":                    "W|On 5 Jan 2026 10:00\n |\nA|Bob wrote:\nQ|> Ten?\n",
		"a quotation within":                     "W|On 5 Jan 2026 10:00 we met\nQ|> Bob wrote:\nQ|> Ten?\n",
		"an attribution of 400 bytes":            "A|" + strings.Repeat("x", 393) + " wrote:\nQ|> Ten?\n",
		"401 are too many":                       "W|" + strings.Repeat("x", 394) + " wrote:\nQ|> Ten?\n",
		"the verb on a line of its own":          "A|Den 5 jan. 2026 10:00 Bob\nA|skrev:\n |\nQ|> Tio?\n",
		"wrote without a colon":                  "A|On 5 Jan 2026 10:00 Bob <b@x.example>\nA|wrote\nQ|> Ten?\n",
		"two blank lines before the quotation":   "A|Bob wrote:\n |\n |\nQ|> Ten?\n",
		"three blank lines before the quotation": "W|Bob wrote:\n |\n |\n |\nQ|> Ten?\n",
		"a sentence with a date above":           "W|We met on 5 Jan 2026.\nA|On 6 Jan 2026 10:00, Bob <b@x.example> wrote:\nQ|> Ten?\n",
		"a date and a comma above":               "A|On Mon, 5 Jan 2026,\nA|at 10:00 Bob <b@x.example> wrote:\nQ|> Ten?\n",
		"a greeting above":                       "W|Hi a@x.example,\nA|On 6 Jan 2026 10:00, Bob <b@x.example> wrote:\nQ|> Ten?\n",
		"a sentence above":                       "W|Yes, fine\nA|Bob wrote:\nQ|> Ten?\n",
		"a line that begins with a date":         "A|Mon, 5 Jan 2026\nA|Bob Baker wrote:\nQ|> Ten?\n",
		"a line that begins with an address":     "A|Bob <b@x.example>\nA|wrote:\nQ|> Ten?\n",
		"a line that begins with On":             "A|On Monday\nA|Bob wrote:\nQ|> Ten?\n",
		"a date and a person without a verb":     "A|On 5 Jan 2026 at 10:00 Bob:\nQ|> Ten?\n",
		"a person alone":                         "W|See bob@x.example:\nQ|> Ten?\n",
		"a time alone":                           "W|Ten o'clock, 10:00:\nQ|> Ten?\n",
		"a verb and a time alone":                "W|She wrote at 10:00:\n |\nW|Ten?\n",
		"a date and On without a verb":           "W|On 5 Jan 2026 we meet:\n |\nW|Bring cake.\n",

		// Signatures
		"text behind a quotation behind a signature": "W|Yes.\nS|-- \nS|Ada\nQ|> Ten?\nW|No.\n",
		"a long signature":                           "W|Yes.\nS|-- \n" + strings.Repeat("S|Ada\n", 20),
		"a bare delimiter above 14 lines":            "W|Yes.\nS|--\n" + strings.Repeat("S|Ada\n", 14),
		"a bare delimiter above 15 lines":            "W|Yes.\nW|--\n" + strings.Repeat("W|Ada\n", 15),
		"a bare delimiter behind blanks":             "W|Yes.\nW|  --\nW|Ada\n",
		"a device alone":                             "S|Sent from my iPhone\n",
		"a device two lines from the end":            "W|Yes.\nS|Sent from my iPhone\nS|Ada\nS|Example Ltd\n",
		"a device three lines from the end":          "W|Yes.\nW|Sent from my iPhone\nW|Ada\nW|Example Ltd\nW|London\n",
		"a device above a blank line":                "W|Sent from my iPhone\n |\nW|Ada\n",
		"two devices":                                "W|Yes.\n |\nS|Sent from my Galaxy\nS|Get Outlook for Android\n",
		"a device above the footer of a list":        "W|Yes.\nS|Sent from my iPhone\nF|--\nF|You received this message because you are subscribed to the group.\n",
		"a sentence about a device":                  "W|I love my iPhone\n",
		"sent from no device":                        "W|Sent from the heart\n",
		"a question about a device":                  "W|Sent from my iPhone? No\n",
		"a long sentence about a device":             "W|Sent from my iPhone while I was walking along the river in the rain without an umbrella\n",
		"a line too long for a device":               "W|Sent from my iPhone " + strings.Repeat("x", 300) + "\n",

		// Footers
		"the footer of Google Groups alone":      "F|You received this message because you are subscribed to the group.\nF|More\n",
		"a footer of Google Groups without rule": "W|Yes.\nF|You received this message because you are subscribed to the group.\n",
		"a footer far from the end":              "W|You received this message because you are subscribed to the group.\n" + strings.Repeat("W|x\n", 19),
		"a footer 19 lines from the end":         "F|You received this message because you are subscribed to the group.\n" + strings.Repeat("F|x\n", 18),
		"a footer that names the list":           "W|Yes.\nF|" + strings.Repeat("_", 30) + "\nF|The gophers Mailing List\n",
		"a footer that links to the list":        "W|Yes.\nF|" + strings.Repeat("_", 30) + "\nF|https://x.example/listinfo/gophers\n",
		"a footer that says how to leave":        "W|Yes.\nF|" + strings.Repeat("_", 30) + "\nF|Unsubscribe: https://x.example\n",
		"a rule above a sentence":                "W|Yes.\nW|" + strings.Repeat("_", 30) + "\nW|Ada\n",
		"a rule of 29 above the list":            "W|Yes.\nW|" + strings.Repeat("_", 29) + "\nW|The mailing list\n",
	} {
		t.Run(name, func(t *testing.T) {
			text, want := labeled(t, sample)
			require.Equal(t, want, lineLabels(t, text, want))
		})
	}
}

// Blank lines belong to what stands before them, and those on top to what follows.
func TestReplyPassages(t *testing.T) {
	for text, want := range map[string]reply.Passages{
		"\nYes.\n\n> Ten?\n\nEve.\n": {{Kind: reply.Written, Text: "\nYes.\n\n"}, {Kind: reply.Quoted, Text: "> Ten?\n\n"}, {Kind: reply.Written, Text: "Eve.\n"}},
		"\n> Ten?\n":                 {{Kind: reply.Quoted, Text: "\n> Ten?\n"}},
		"On 5 Jan 2026, Bob wrote:\n\nTen?\n": {
			{Kind: reply.Attribution, Text: "On 5 Jan 2026, Bob wrote:\n"}, {Kind: reply.Quoted, Text: "\nTen?\n"},
		},
		"\n": {{Kind: reply.Written, Text: "\n"}},
	} {
		require.Equal(t, want, reply.Split(text), "%q", text)
	}
	require.Empty(t, reply.Split("\n").Written())
	require.Equal(t, reply.Passages{{Kind: reply.Quoted, Text: "Ten?\n"}},
		reply.SplitHTML("<p></p><blockquote type=cite>Ten?</blockquote><p></p>"))
}

// The first 512 KiB are judged. What is beyond belongs to the last passage.
func TestSplitReplyJudgesTheBeginning(t *testing.T) {
	judged := strings.Repeat("x\n", 256<<10)
	require.Equal(t, reply.Passages{{Kind: reply.Written, Text: judged + "> Ten?\n"}}, reply.Split(judged+"> Ten?\n"))
	require.Equal(t, reply.Passages{{Kind: reply.Written, Text: judged[:len(judged)-8]},
		{Kind: reply.Quoted, Text: "> Ten?!\n"}},
		reply.Split(judged[:len(judged)-8]+"> Ten?!\n"))
}
