package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A mailbox that cannot be set up has nothing decided about its mail: the first page says so, as the status does.
func TestAMailboxThatCannotBeSetUpIsATrouble(t *testing.T) {
	a := AccountStatus{Email: "bob@example.org", State: mailstore.AccountActive,
		SetupError: "its rules cannot be read: x.yaml:3"}
	require.Equal(t, []Trouble{{What: "Nothing is decided about the mail of bob@example.org.",
		Why: "It cannot be set up: its rules cannot be read: x.yaml:3"}}, a.troubles())
	a.State = mailstore.AccountPaused
	require.Len(t, a.troubles(), 1, "nothing is read there either")
	a.SetupError, a.State = "", mailstore.AccountActive
	require.Empty(t, a.troubles())
}

// What is wrong with the copies of the mail is a trouble, whatever else the mailbox does.
func TestAnArchiveThatIsNotRightIsATrouble(t *testing.T) {
	a := AccountStatus{Email: "bob@example.org", State: mailstore.AccountActive, Archive: "3 messages",
		ArchiveFault: "the disk is full"}
	require.Equal(t, []Trouble{{What: "The archive of bob@example.org is not right.", Why: "the disk is full"}},
		a.troubles())
	a.ArchiveFault = ""
	require.Empty(t, a.troubles())
}
