package injection

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/costtest"
)

// The indicators cost at most 0.3 ms for a mail of 8 kB. On a machine that is slow, or busy with others, a second is
// what it takes for as many plain passes over the text as fit into one elsewhere.
func TestIndicatorsAreCheap(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const most, passes, rounds, times = 300 * time.Microsecond, 250, 6, 60
	letter := strings.Repeat("We were at the lake on Saturday, and the children swam until it was dark; the photos "+
		"follow soon. ", 41)
	office := strings.Repeat("The system of the office moves on Monday. Please read the rules on page 7 and tell Ann, who is "+
		"the assistant of the director, which tools you need; forget the keys of the old room, though. ", 2)
	german := strings.Repeat("Übermorgen fährt der Zug früher ab, schöne Grüße aus Köln und danke für die Regeln. ", 46)
	for name, text := range map[string]string{"a letter": letter, "an office": letter[:3700] + office,
		"a letter in German": german} {
		msg := &postroom.Message{BodyPlain: text, BodyHTML: "<p>" + text + "</p>",
			From: postroom.Address{Email: "ann@example.com"}}
		sum := 0
		cost, yard := time.Hour, time.Hour
		for range rounds {
			cost = min(cost, costtest.CPUTime(t, func() {
				for range times {
					Indicators(t.Context(), msg)
				}
			})/times)
			yard = min(yard, costtest.CPUTime(t, func() {
				for range times * passes {
					sum += plainPass(text)
				}
			})/times)
		}
		require.Positive(t, sum)
		t.Logf("%s of %d bytes: %v; %d plain passes over the text: %v", name, 2*len(text), cost, passes, yard)
		require.LessOrEqual(t, cost, max(most, yard), name)
	}
}

//go:noinline
func plainPass(text string) (sum int) {
	for i := range len(text) {
		sum += int(text[i])
	}
	return sum
}
