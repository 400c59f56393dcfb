package decide

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
		"Never archive, trash or delete e-mails!":                "archive delete move trash sure",
		"Never delete mail from ada@example.com":                 "delete trash of ada@example.com sure",
		"Never archive anything from example.com.":               "archive move of example.com sure",
		"Put receipts away. Never delete them.":                  "delete trash sure",
		"Never delete receipts.":                                 "delete trash asks",
		"Never archive mail from my bank unless it is spam":      "archive move asks",
		"When you are in doubt, never archive":                   "archive move asks",
		"Newsletters can go, but never delete mail from people.": "delete trash asks",
		"Never mark anything as read.":                           "mark_read sure",
		"Don't mark mail from example.com as unread":             "mark_unread of example.com sure",
		"Nothing may be deleted.":                                "delete trash sure",
		"No mail is ever to be archived":                         "archive move sure",
		"No mail from example.com may be archived or deleted":    "archive delete move trash of example.com sure",
		"Never throw anything away":                              "delete trash sure",
		"Never apply labels.":                                    "apply_label move sure",
		"Never remove labels":                                    "remove_label sure",
		"Do not unstar anything":                                 "unstar sure",
		"Never restore mail":                                     "restore sure",
		"You must never, under any circumstances, trash mail.":   "delete trash sure",
		"Under no circumstances delete anything":                 "delete trash sure",
		"Deleting is forbidden.":                                 "delete trash sure",
		"Archiving or deleting mail is not allowed":              "archive delete move trash sure",
		"I never want mail to be archived.":                      "archive move sure",
		"I do not want you to forward my mail":                   "forward sure",
		"Never take mail out of the inbox.":                      "archive delete move snooze trash sure",
		"Do not touch my mail from shop.example.":                "add_note apply_label archive auto_reply create_task delete escalate forward mark_read mark_unread move remove_label restore snooze star trash unstar of shop.example sure",
		"Avoid deleting.":                                        "delete trash sure",
		"Stop archiving things":                                  "archive move sure",
		"Never hide mail from shop.example":                      "archive delete move snooze trash of shop.example sure",
		"Keep everything; never deletes.":                        "delete trash sure",
		"You cannot archive mail":                                "archive move sure",
		"Nothing from example.com should be binned unless old":   "delete trash of example.com asks",
		"If nothing may be deleted, archive":                     "",
		"Avoid the word delete in subjects":                      "delete trash asks",
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

// TestUncheckedDirections are those that begin like prohibitions and are not understood whole: a person is told when they are stored.
func TestUncheckedDirections(t *testing.T) {
	for direction, want := range map[string]string{
		"Never delete anything.":                   "",
		"Put receipts away. Never delete them.":    "",
		"Archive what shops send.":                 "",
		"Do not forget to archive newsletters":     "",
		"Never buy shoes.":                         "only told to the model",
		"Lösche niemals etwas.":                    "only told to the model",
		"Nichts darf gelöscht werden":              "only told to the model",
		"Ne supprime jamais rien":                  "only told to the model",
		"Nunca borres nada":                        "only told to the model",
		"Never delete anything. Never buy shoes.":  "only told to the model",
		"Never delete receipts.":                   "goes to a person",
		"Newsletters can go, never archive bills.": "goes to a person",
	} {
		t.Run(direction, func(t *testing.T) {
			hint := Unchecked(direction)
			if want == "" {
				require.Empty(t, hint)
				return
			}
			require.Contains(t, hint, want)
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
