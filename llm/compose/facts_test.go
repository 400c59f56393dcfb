package compose_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/compose"
)

// marked returns what becomes of a text that a model has written as an answer to another.
func marked(t *testing.T, thread, said string) string {
	t.Helper()
	c, _ := composer(t, says(said))
	m := &postroom.Message{ID: "1", AccountID: "ada", BodyPlain: thread}
	text, err := c.Write(t.Context(), compose.Request{Message: m, Thread: []*postroom.Message{m}})
	require.NoError(t, err)
	return text
}

// The same value in another form is known.
func TestFactsInAnotherForm(t *testing.T) {
	for _, tt := range []struct{ thread, said string }{
		{"1,200", "1200"}, {"1200", "1.200,00"}, {"1.200,00 €", "1,200 EUR"}, {"1 200 €", "€1'200"}, {"$5", "5 dollars"},
		{"12.50 EUR", "12,5 €"}, {"30 percent", "30%"}, {"100km", "100 km"}, {"٢٥٠", "250"}, {"0.5 %", ".5, 0,50%"},
		{"14:00", "2 pm"}, {"2pm", "14:00"}, {"14 Uhr", "2:00 p.m."}, {"at 5:30?", "17:30"}, {"17:30", "5.30"},
		{"14h30", "14:30"},
		{"2026-03-07", "7 March 2026"}, {"7.3.2026", "March 7th"}, {"07.03.", "7. März"}, {"3/7/2026", "7 de marzo"},
		{"2026-03-07", "Saturday, 7 March"}, {"7 mars 2026", "2026/03/07"}, {"2026年3月7日", "7.3.2026"}, {"Freitag", "venerdì"},
		{"March 7 or 8 March, in 2026", "8.3.2026"}, {"7 March, 2 pm", "14:00 on 7.3."}, {"2026-03-07T12:00:00Z", "12:00"},
		{"+49 170 1234567", "+49 170 1234567"}, {"0170/1234567", "0170 1234567"},
		{"DE89 3704 0044 0532", "DE89 3704 0044 0532"},
		{"10 to 12 people", "10-12 people"}, {"https://www.tea.example/menu/", "tea.example/menu"},
		{"tea.com", "https://tea.com"},
		{"Zoe@Example.org", "zoe@example.org"}, {"nothing", "You may come, e.g. at the z.B. end.Then 5 of us and B2."},
		{"12 and 140", "rooms 12 140"}, {"1.2.3 and 10.0.0.17", "1.2.3 and 10.0.0.17"},
	} {
		require.Equal(t, tt.said, marked(t, tt.thread, tt.said), tt.thread)
	}
}

// A value that only looks like a known one is not.
func TestFactsThatLookLikeKnownOnes(t *testing.T) {
	for _, tt := range []struct{ thread, said, want string }{
		{"1500 EUR", "50 EUR", "[check: 50 EUR]"}, {"1500 EUR", "15 EUR", "[check: 15 EUR]"},
		{"2012", "12 people", "[check: 12] people"},
		{"12.50", "125", "[check: 125]"}, {"1.25", "125", "[check: 125]"}, {"1200 EUR", "1200 USD", "[check: 1200 USD]"},
		{"https://tea.example/menu", "https://tea.example/me.", "[check: https://tea.example/me]."},
		{"https://tea.example/menu", "tea.example/pay", "tea.example/pay"},
		{"7 March", "8 March, or Friday", "[check: 8 March], or [check: Friday]"},
		{"7 March", "on March 9", "on [check: March 9]"},
		{"7 March", "7 March 2031", "[check: 7 March 2031]"}, {"7 March 2026", "7.3.2031", "[check: 7.3.2031]"},
		{"2 pm", "2 am", "[check: 2 am]"}, {"14:00", "3 pm", "[check: 3 pm]"}, {"50", "5 €", "[check: 5 €]"},
		{"anything", "see evil.com or www.evil.example", "see [check: evil.com] or [check: www.evil.example]"},
		{"ann@example.org", "n@example.org", "[check: n@example.org]"}, {"[check: 18:30]", "18:30", "[check: 18:30]"},
		{"a", "08:47:00", "[check: 08:47:00]"}, {"a", "00", "[check: 00]"},
		{"a", "٢٥٠", "[check: ٢٥٠]"}, {"17", "1\u200b2", "[check: 12]"},
	} {
		require.Equal(t, tt.want, marked(t, tt.thread, tt.said), tt.thread)
	}
}

// What the model has invented is not known because the person has its text written again.
func TestAMarkedFactStaysInventedInARework(t *testing.T) {
	c, _ := composer(t, says("At 18:30, friend."))
	m := question()
	text, err := c.Write(t.Context(), compose.Request{Message: m, Thread: []*postroom.Message{m},
		Text: "At [check: 18:30].", Instruction: "Friendlier."})
	require.NoError(t, err)
	require.Equal(t, "At [check: 18:30], friend.", text)
}

// The numbers of the day on which a message came are no numbers of its text; the day itself may be named.
func TestTheDayOfAMessageIsNoNumber(t *testing.T) {
	c, _ := composer(t, says("Thank you for your mail of November 27. We are 27, or 11, at 08:47."))
	m := question()
	m.ReceivedAt = time.Date(2026, 11, 27, 8, 47, 0, 0, time.UTC)
	text, err := c.Write(t.Context(), compose.Request{Message: m, Thread: []*postroom.Message{m}})
	require.NoError(t, err)
	want := "Thank you for your mail of November 27. We are [check: 27], or [check: 11], at [check: 08:47]."
	require.Equal(t, want, text)
}
