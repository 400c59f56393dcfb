package drafting

import (
	"context"

	"github.com/postroom-go/postroom"
)

// A Writer writes the text of an answer. It may be called more than once for a turn of a reply: if it fails, or if a
// person changes the draft meanwhile.
type Writer interface {
	// Write returns the text, without a signature and without what it answers. A blank text means that a person should
	// write, and the reply gets the label Action Required. An error is tried again.
	Write(ctx context.Context, r Request) (text string, err error)
}

// A WriterFunc is a function used as [Writer].
type WriterFunc func(ctx context.Context, r Request) (string, error)

// Write calls f.
func (f WriterFunc) Write(ctx context.Context, r Request) (string, error) { return f(ctx, r) }

// A Request is what a [Writer] knows. The texts of messages are a stranger's.
type Request struct {
	AccountID string
	// Message is the one to answer.
	Message *postroom.Message
	// Thread are the messages of the thread, oldest first, Message among them; of a long thread the last ones.
	Thread []*postroom.Message
	// Recipients are the addresses that the draft goes to.
	Recipients []string
	// Nudge is set if the draft is a reminder: nobody has answered the Message, which the person has sent.
	Nudge bool
	// Asked is set if a person has asked for the draft.
	Asked bool

	// Text is the text to write again; empty for the first one.
	Text string
	// Instruction is what the person wants of it; it may be empty.
	Instruction string
	// Edited is set if the Text is not what the Writer has returned, but what the person has made of it.
	Edited bool
}
