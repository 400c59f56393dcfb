// Package reply separates the sender's new text in a message from quotations and signatures.
//
// [Read] splits the text of a message into [Passages]: written, quoted, attributions, signatures and footers. [Split]
// does so for a plain text, and [SplitHTML] for a page, with the help of the marks that mail programs leave there.
//
// The result is an estimate. If in doubt, a line counts as written, so that nothing that a person wrote is lost. Time
// is linear in the size of the text, and memory is bounded.
package reply
