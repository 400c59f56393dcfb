package decide

import (
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// instructionsFor returns what of the instructions is about the message: mail that only claims to be of a sender does
// not gain by what the user says of the sender, unless the instruction says so. What is forbidden stays forbidden.
func instructionsFor(list []guidance.Instruction, msg *postroom.Message, server authres.Server) []guidance.Instruction {
	ofClaimed := func(i guidance.Instruction) bool { return i.Scope.OfSender() && !i.Unauthenticated }
	if !slices.ContainsFunc(list, ofClaimed) || isVerified(msg, server) {
		return list
	}
	var about []guidance.Instruction
	for _, i := range list {
		if ofClaimed(i) {
			i.Text = ""
			if len(i.Forbids) == 0 {
				continue
			}
		}
		about = append(about, i)
	}
	return about
}

// isVerified reports whether the server has verified the domain of the one sender of a message.
func isVerified(msg *postroom.Message, server authres.Server) bool {
	findings := authres.Read(headerOf(msg), server)
	return len(msg.Header("From")) <= 1 && findings.Verifies(mime.Address{Name: msg.From.Name, Email: msg.From.Email})
}
