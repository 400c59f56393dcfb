package bounce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// A table of all words of all servers has no end: these are few, each says one thing, and none hides another.
func TestTheWordsOfServersAreFew(t *testing.T) {
	n := 0
	for _, known := range reasonWords {
		for _, words := range known.words {
			n++
			require.Equal(t, known.reason, bounceReason("", "it said: "+words), words)
		}
	}
	require.LessOrEqual(t, n, 60)
}

func TestReasonsOfServers(t *testing.T) {
	for said, want := range map[string]mime.BounceReason{
		"552 5.2.2 The email account that you tried to reach is over quota":                          mime.ReasonFull,
		"452 4.2.2 The recipient's inbox is out of storage space":                                    mime.ReasonFull,
		"550 5.1.1 <a@b.example>: Recipient address rejected: User unknown in virtual mailbox table": mime.ReasonNoUser,
		"550 RESOLVER.ADR.RecipientNotFound; not found":                                              mime.ReasonNoUser,
		"550 'a@b.example' is not a registered gateway user":                                         mime.ReasonNoUser,
		"554 delivery error: This user doesn\u2019t have a yahoo.com account":                        mime.ReasonNoUser,
		"550 5.4.4 Host or domain name not found. Name service error":                                mime.ReasonNoDomain,
		"421 4.7.0 IP not in whitelist, greylisted":                                                  mime.ReasonThrottled,
		"550 5.7.26 This mail is unauthenticated":                                                    mime.ReasonUnauthenticated,
		"554 5.7.1 Service unavailable; Client host blocked using zen.example":                       mime.ReasonRefused,
		"connect to mx.b.example: Connection timed out":                                              mime.ReasonNetwork,
		"550 5.2.1 The account is disabled":                                                          mime.ReasonClosed,
		"something else":                                                                             mime.ReasonUnknown,
	} {
		_, status := replyCodes(said)
		require.Equal(t, want, bounceReason(status, said), said)
	}
}
