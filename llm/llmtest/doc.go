// Package llmtest has language models for tests. Nothing in it needs a network or a key.
//
// [Scripted] gives prepared answers, [Obedient] follows the instructions of the mail, [Malicious] answers what a model must not,
// [Unreliable] fails a share of its calls, [Slow] takes its time. A [Recorder] writes down what a real provider answers, and
// [Replayed] answers it again.
//
// [Conformance] checks the client of a provider against a [Server] that speaks its wire. The server follows the providers'
// published descriptions of chat completions, messages and generateContent: it has not been recorded from them, and where a
// provider departs from its description, the server does not.
package llmtest
