package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Fingerprint is equal for equal requests: it omits the random strings of the messages, the account, and the purpose.
// [Request.Same], if set, replaces the messages, and [Request.Asking] sets it apart.
func (r *Request) Fingerprint() string {
	asked := struct {
		Same        string
		Messages    []Message
		Tools       []Tool
		ForceTool   string
		Output      *Output
		Max         int
		Temperature *float64
		Asking      string `json:",omitempty"`
	}{r.Same, r.plain(), r.Tools, r.ForceTool, r.Output, r.MaxOutputTokens, r.Temperature, r.Asking}
	encoded, err := json.Marshal(asked) //nolint:musttag // nobody reads it: it is hashed
	if err != nil {
		// Validate has found the schemas to be JSON; those that are not have a fingerprint all the same.
		encoded = fmt.Appendf(nil, "%#v", asked)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// PromptHash returns the hash of the first messages, without answers, replies and random strings.
func (r *Request) PromptHash() string {
	first := *r
	for i, m := range r.Messages {
		if m.Role == RoleUser {
			first.Messages = r.Messages[:i+1]
			break
		}
	}
	first.Same = ""
	hash := sha256.New()
	for _, m := range first.plain() {
		_, _ = fmt.Fprintf(hash, "%s %d\n%s", m.Role, len(m.Text), m.Text)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// plain is the messages with the random strings numbered.
func (r *Request) plain() []Message {
	if r.Same != "" {
		return nil
	}
	var pairs []string
	for i, random := range r.Random {
		if random != "" {
			pairs = append(pairs, random, fmt.Sprintf("\x00%d\x00", i))
		}
	}
	replacer := strings.NewReplacer(pairs...)
	plain := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		m.Text = replacer.Replace(m.Text)
		m.ToolCalls = append([]ToolCall(nil), m.ToolCalls...)
		for j := range m.ToolCalls {
			m.ToolCalls[j].Arguments = replacer.Replace(m.ToolCalls[j].Arguments)
		}
		plain[i] = m
	}
	return plain
}
