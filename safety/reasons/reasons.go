// Package reasons says in plain sentences why the safety gate asks a person. The gate's own texts are fixed, because
// other programs read them; what people read is made of them here, once for the command line, the API, the page and
// the messengers.
package reasons

import (
	"cmp"
	"strings"
)

// sentences has a sentence for each check of the gate.
var sentences = map[string]string{
	"dangerous_action": "what it does cannot be taken back, so it always asks",
	"low_confidence":   "the one who decided is less sure than you require (policy.confidence_default)",
	"approval_always":  "you want to be asked about such an action (policy.approval_always)",
	"requested":        "the one who decided wants you to look at it",
	"rule_not_stored":  "the rule has been changed since it matched",
	"cap":              "a cap on such actions is reached",
	"breaker":          "a breaker has stopped what decided",
	"drift":            "you have corrected too much of what decided it",
	"old_mail":         "it would send about mail that came long ago",
	"sent_before":      "the mailbox has sent it before, or may have",
	"not_alone":        "a model does not do that alone",
	"daily_share":      "models have taken their share of the day's mail out of the inbox",
	"hidden_text":      "the message has text that its reader does not see",
	"doubtful_sender":  "the sender may not be who it seems",
	"machine_talk":     "the message seems to give instructions to a model",
	"notice":           "a model does not hide the notice of a program alone",
	"new_recipient":    "only a model names the recipient",
	"unknown_label":    "the label is not there, or models may not use it",
	"forbidden":        "you have forbidden it to models",
}

// own are the fixed texts of the gate, with the check that each belongs to or a sentence of its own.
var own = map[string]string{
	"action is classified as dangerous":      sentences["dangerous_action"],
	"action type is in approval_always list": sentences["approval_always"],
	"LLM explicitly requested approval":      "the model wants you to look at it",
	"rule explicitly requested approval":     "the rule wants you to look at it",
}

// Sentence returns the sentence for a check, such as "dangerous_action"; of an unknown one its words.
func Sentence(check string) string {
	return cmp.Or(sentences[check], strings.ReplaceAll(check, "_", " "))
}

// Known reports whether there is a sentence for a check.
func Known(check string) bool { return sentences[check] != "" }

// Plain returns reasons of the gate as a person says them. A reason that is not fixed is plain already.
func Plain(reasons []string) []string {
	plain := make([]string, len(reasons))
	for i, text := range reasons {
		plain[i] = cmp.Or(own[text], lessSure(text), text)
	}
	return plain
}

// lessSure is the sentence about a low confidence; empty for other texts.
func lessSure(text string) string {
	numbers, ok := strings.CutPrefix(text, "confidence ")
	if !ok {
		return ""
	}
	sure, threshold, ok := strings.Cut(numbers, " is below threshold ")
	if !ok {
		return ""
	}
	return "the one who decided is only " + sure + " sure, and below " + threshold +
		" you are asked (policy.confidence_default)"
}
