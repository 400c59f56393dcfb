// Package llmtest has language models for tests: [Scripted] gives prepared answers, [Obedient] follows the instructions of
// the mail. Neither needs a network or a key.
package llmtest
