// Package llmtest has language models for tests: [Scripted] says what it was told to, [Obedient] does whatever the mail
// says. Neither needs a network or a key.
package llmtest
