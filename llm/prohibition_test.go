package llm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestProhibitionsAreRead(t *testing.T) {
	for direction, want := range map[string]string{
		"Never delete anything.": "delete trash sure",
		"never delete":           "delete trash sure",
		"Please don’t ever forward my mail to anyone":            "forward sure",
		"Do not reply to messages.":                              "auto_reply sure",
		"Never archive, trash or delete e-mails!":                "archive delete trash sure",
		"Never delete mail from ada@example.com":                 "delete trash of ada@example.com sure",
		"Never archive anything from example.com.":               "archive of example.com sure",
		"Put receipts away. Never delete them.":                  "delete trash sure",
		"Never delete receipts.":                                 "delete trash asks",
		"Never archive mail from my bank unless it is spam":      "archive asks",
		"When you are in doubt, never archive":                   "archive asks",
		"Newsletters can go, but never delete mail from people.": "delete trash asks",
		"Do not forget to archive newsletters":                   "",
		"If I don't answer within a week, archive it":            "",
		"Archive what shops send.":                               "",
		"There is no need to delete anything":                    "",
		"Never buy shoes.":                                       "",
		"":                                                       "",
		"Never":                                                  "",
	} {
		t.Run(direction, func(t *testing.T) {
			got := ""
			for _, p := range prohibitions([]string{direction}) {
				actions := slices.Compact(slices.Sorted(slices.Values(p.actions)))
				got = strings.Trim(fmt.Sprint(actions), "[]")
				if p.sender != "" {
					got += " of " + p.sender
				}
				got += map[bool]string{true: " sure", false: " asks"}[p.sure]
			}
			require.Equal(t, want, got)
		})
	}
}

func TestProhibitionsConcernTheirSenders(t *testing.T) {
	from := func(email string) *postroom.Message { return &postroom.Message{From: postroom.Address{Email: email}} }
	archive := &postroom.Decision{Action: postroom.Archive}
	domain := prohibitions([]string{"Never archive anything from example.com."})
	for email, forbidden := range map[string]bool{"a@example.com": true, "a@Mail.Example.com": true, "a@notexample.com": false, "example.com@evil.example": false, "": false} {
		require.Equal(t, forbidden, obey(domain, from(email), archive) != nil, email)
	}
	sender := prohibitions([]string{"Never archive mail from ada@example.com."})
	require.Error(t, obey(sender, from("Ada@example.com"), archive))
	require.NoError(t, obey(sender, from("grace@example.com"), archive))
	require.NoError(t, obey(sender, from("ada@example.com"), &postroom.Decision{Action: postroom.Star}))
}

// Whatever a person writes, it is read in time and without a fault.
func FuzzProhibitions(f *testing.F) {
	for _, d := range []string{"Never delete anything.", "never, never from a@b.cc", "don't archive\nfrom \x00", "must never label/move"} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, direction string) {
		for _, p := range prohibitions([]string{direction}) {
			require.NotEmpty(t, p.actions)
			require.Equal(t, direction, p.direction)
		}
	})
}
