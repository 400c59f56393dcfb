package ruleschat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// The limits of a conversation.
const (
	maxText   = 4000      // characters of a person's message
	maxTries  = 3         // the first answer, and two corrections
	maxAnswer = 128 << 10 // bytes of one
	maxTokens = 8192      // of one, which has whole rules in it
	maxFault  = 4000      // characters of the report about a faulty one
)

// A Turn is a person's message, with the context that the model needs.
type Turn struct {
	SessionID string
	Text      string // 1 to 4000 characters
	// Rules is the file that the rules of the session's account were read from, or a file made of stored rules if there
	// is none. Required.
	Rules *rulesfile.File
	// Labels are the labels of the account. Default nil: only those of the file.
	Labels []postroom.Label
}

// A Reply is the model's answer.
type Reply struct {
	Message
	// File is the file with the proposal; nil if there is none.
	File *rulesfile.File
}

// Say stores the person's message, calls the model, and stores and returns its answer. A proposal that is still
// faulty after two corrections is dropped, and the answer says so. If the model cannot be called, Say returns the
// client's error; the message stays, and can be repeated. It returns [postroom.ErrNotFound] for an unknown session,
// and [ErrInvalidText] for a blank or too long text.
func (c *Chat) Say(ctx context.Context, turn Turn) (*Reply, error) {
	give := "the client of a provider; package llmtest has some for tests"
	if err := errors.Join(fields.Required("ruleschat: Config.Client", c.cfg.Client, give), turn.check()); err != nil {
		return nil, err
	}
	session, err := c.Session(ctx, turn.SessionID)
	if err != nil {
		return nil, err
	}
	before, err := c.Messages(ctx, turn.SessionID)
	if err != nil {
		return nil, err
	}
	said := Message{SessionID: turn.SessionID, Role: llm.RoleUser, Text: turn.Text}
	if err := c.keep(ctx, &said); err != nil {
		return nil, err
	}
	reply, err := c.ask(ctx, session, turn, append(before, said))
	if err != nil {
		return nil, failed("ask the model", err)
	}
	return reply, c.keep(ctx, &reply.Message)
}

func (t *Turn) check() error {
	if err := fields.Required("ruleschat: Turn.Rules", t.Rules, "the file that the rules were read from"); err != nil {
		return err
	}
	switch n := utf8.RuneCountInString(t.Text); {
	case strings.TrimSpace(t.Text) == "":
		return fmt.Errorf("%w: it is blank; say what should be done with which mail", ErrInvalidText)
	case n > maxText:
		return fmt.Errorf("%w: it has %d characters, and %d are allowed", ErrInvalidText, n, maxText)
	}
	return nil
}

// ask calls the model until it proposes an acceptable change, or nothing.
func (c *Chat) ask(ctx context.Context, s Session, turn Turn, said []Message) (*Reply, error) {
	conversation := c.conversation(turn, said)
	var resp *llm.Response
	var fault error
	for range maxTries {
		var err error
		resp, err = c.cfg.Client.Complete(ctx, &llm.Request{
			Messages: slices.Clone(conversation), Tools: []llm.Tool{proposeTool}, Temperature: c.cfg.Temperature,
			MaxOutputTokens: maxTokens,
			AccountID:       s.AccountID, About: s.ID, Purpose: "rules_chat",
		})
		if err != nil {
			return nil, err
		}
		if resp == nil {
			return nil, errors.New("the client returned neither an answer nor an error")
		}
		reply := &Reply{Message: Message{SessionID: s.ID, Role: llm.RoleAssistant, Text: resp.Text, Model: resp.Model}}
		if fault = c.read(resp, turn, reply); fault == nil {
			return reply, nil
		}
		conversation = append(conversation, correction(resp, fault)...)
	}
	text := fmt.Sprintf("The model proposed nothing that could be used, in %d tries. What was wrong with the last:\n%s",
		maxTries, cut(fault.Error()))
	return &Reply{Message: Message{SessionID: s.ID, Role: llm.RoleAssistant, Text: text, Model: resp.Model}}, nil
}

// read parses the answer, and tries its proposal.
func (c *Chat) read(resp *llm.Response, turn Turn, reply *Reply) error {
	switch {
	case answerSize(resp) > maxAnswer:
		return fmt.Errorf("the answer has %d bytes, and %d are allowed", answerSize(resp), maxAnswer)
	case resp.Stop == llm.StopLength:
		return errors.New("the answer was cut at its bound; write less")
	case len(resp.ToolCalls) == 0 && strings.TrimSpace(resp.Text) == "":
		return errors.New("the answer is empty")
	case len(resp.ToolCalls) == 0:
		return nil
	case len(resp.ToolCalls) > 1 || resp.ToolCalls[0].Name != proposeRules:
		return fmt.Errorf("call %s, once", proposeRules)
	}
	var given struct {
		proposalJSON
		Summary string `json:"summary"`
	}
	decoder := json.NewDecoder(strings.NewReader(resp.ToolCalls[0].Arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil || decoder.More() {
		return fmt.Errorf("the arguments of %s do not fit its schema: %w", proposeRules, cmp.Or(err, errMoreThanOne))
	}
	p := &Proposal{Rules: given.Rules, Remove: given.Remove, base: digest(turn.Rules)}
	file, err := c.try(turn, p)
	if err != nil {
		return err
	}
	p.result = digest(file)
	reply.Text = strings.TrimSpace(strings.TrimSpace(resp.Text) + "\n\n" + given.Summary)
	reply.Proposal, reply.File = p, file
	return nil
}

// try returns the file with a proposal, if its labels are there and the person's tests stay true.
func (c *Chat) try(turn Turn, p *Proposal) (*rulesfile.File, error) {
	file, err := c.apply(turn.Rules, p)
	if err != nil {
		return nil, err
	}
	return file, errors.Join(c.labels(file, turn), c.test(turn.Rules, file))
}

var errMoreThanOne = errors.New("there is more than one JSON object")

// test runs the tests of the file, except those that already fail.
func (c *Chat) test(current, file *rulesfile.File) error {
	failed := map[string]bool{}
	for _, result := range current.Test(current.Tests, c.cfg.Kinds) {
		failed[result.Test.Name] = !result.Passed()
	}
	var faults []string
	for _, result := range file.Test(file.Tests, c.cfg.Kinds) {
		if !result.Passed() && !failed[result.Test.Name] {
			faults = append(faults, fmt.Sprintf("the test %q of the person's file would fail: %s", result.Test.Name,
				strings.Join(result.Failures, "; ")))
		}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

// correction repeats the model's turn and answers it with the fault. Providers require an answer to each tool call.
func correction(resp *llm.Response, fault error) []llm.Message {
	text := "That cannot be used:\n" + cut(fault.Error())
	if answerSize(resp) > maxAnswer {
		// Text that was too long to read is too long to send back.
		return []llm.Message{{Role: llm.RoleAssistant, Text: "(an answer that was too long)"},
			{Role: llm.RoleUser, Text: text}}
	}
	turn := []llm.Message{resp.Message()}
	if len(resp.ToolCalls) == 0 {
		if strings.TrimSpace(resp.Text) == "" {
			turn[0].Text = "(an empty answer)"
		}
		return append(turn, llm.Message{Role: llm.RoleUser, Text: text})
	}
	for _, call := range resp.ToolCalls {
		turn = append(turn, llm.Message{Role: llm.RoleTool, Text: text, ToolCallID: call.ID})
	}
	return turn
}

func answerSize(resp *llm.Response) int {
	n := len(resp.Text)
	for _, call := range resp.ToolCalls {
		n += len(call.Arguments)
	}
	return n
}

func cut(text string) string {
	if utf8.RuneCountInString(text) <= maxFault {
		return text
	}
	return string([]rune(text)[:maxFault]) + "…"
}

// digest distinguishes files with different rules, including files without text.
func digest(f *rulesfile.File) string {
	text := f.Source
	if text == "" {
		text = string(rulesfile.Marshal(f))
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
