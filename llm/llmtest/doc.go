// Package llmtest has language models for tests. Nothing in it needs a network or a key.
//
// [Scripted] gives prepared answers, [Obedient] follows the instructions of the mail, [Malicious] gives forbidden
// answers, [Unreliable] fails a share of its calls, and [Slow] answers after a delay. A [Recorder] records the answers
// of a real provider, and [Replayed] replays them.
//
// [Conformance] checks the client of a provider against a [Server] that uses its protocol. The server follows the
// providers' published descriptions of chat completions, messages and generateContent. It is not a recording: if a
// provider deviates from its description, the server does not.
package llmtest
