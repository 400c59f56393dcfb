package agent

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// The names of the tools of the box.
const (
	ReadThread = "read_thread" // the thread of the message
	SearchMail = "search_mail" // earlier mail of the verified sender, by words
	OwnAnswers = "own_answers" // what the owner has written to the verified sender
	ReadFiles  = "read_files"  // passages of the owner's files, by words
	ListLabels = "list_labels" // the labels that a model may choose
)

// The limits of the results of the box, in characters but for the numbers.
const (
	maxFound   = 5 // messages
	maxExcerpt = 1200
	maxAnswers = 3 // messages
	maxAnswer  = 600
	maxWords   = 10 // of a query
)

// noArguments has a field that nobody reads: providers refuse a tool without any.
type noArguments struct {
	Why string `json:"why,omitempty" jsonschema:"why it is called; may be left out"`
}

type queryArguments struct {
	Query string `json:"query" jsonschema:"words that the text must have"`
}

// boxTools returns the tools of the box that the configuration can serve.
func boxTools(cfg *Config) ([]Tool, error) {
	var list []Tool
	var fault error
	add := func(t Tool, err error) *Tool {
		if err != nil {
			fault = err
		}
		list = append(list, t)
		return &list[len(list)-1]
	}
	add(NewTool(ReadThread, "Read the whole thread of the message.", postroom.Safe, readThread)).Audience = Participants
	if cfg.Correspondence != nil {
		add(NewTool(SearchMail, "Search earlier mail of the sender of the message by words.", postroom.Safe, cfg.searchMail))
		add(NewTool(OwnAnswers, "Read the owner's latest mails to the sender of the message.", postroom.Safe,
			cfg.ownAnswers)).OwnersWords = true
	}
	if cfg.Folder != nil {
		t := add(NewTool(ReadFiles, "Find passages in the owner's own files by words.", postroom.Safe, cfg.readFiles))
		t.Audience, t.OwnersWords = Participants, true
	}
	if cfg.Labels != nil {
		add(NewTool(ListLabels, "List the labels that may be chosen.", postroom.Safe, cfg.listLabels)).Audience = Participants
	}
	return list, fault
}

func readThread(ctx context.Context, s *Scope, _ noArguments) (string, error) {
	return threadText(ctx, s.Thread), nil
}

// searchMail finds mail of the correspondent. Whatever the query says, only words of it count: an operator such as
// from: is a word, and a message of another sender is left out even if the index returns it.
func (c *Config) searchMail(ctx context.Context, s *Scope, a queryArguments) (string, error) {
	words := wordsOf(a.Query)
	if len(words) == 0 {
		return "", faultf("the query has no words: write some")
	}
	found, err := c.Correspondence.Received(ctx, s.AccountID, s.Correspondent, strings.Join(words, " "), maxFound)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range found {
		if mailname.Address(m.From.Email) == s.Correspondent && m.AccountID == s.AccountID && len(texts) < maxFound &&
			!m.HasLabel(postroom.LabelSpam) && !m.HasLabel(postroom.LabelTrash) {
			texts = append(texts, messageText(ctx, m, maxExcerpt))
		}
	}
	return orNothing(texts), nil
}

// ownAnswers returns what the owner wrote to the correspondent, without quotations: they may be of others.
func (c *Config) ownAnswers(ctx context.Context, s *Scope, _ noArguments) (string, error) {
	found, err := c.Correspondence.Sent(ctx, s.AccountID, s.Correspondent, maxAnswers)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range found {
		if isParty(m, s.Correspondent) && m.AccountID == s.AccountID && m.HasLabel(postroom.LabelSent) &&
			len(texts) < maxAnswers {
			texts = append(texts, cleantext.Cut(onlyWritten(ctx, m), maxAnswer))
		}
	}
	return orNothing(texts), nil
}

func (c *Config) listLabels(ctx context.Context, s *Scope, _ noArguments) (string, error) {
	labels, err := c.Labels.Labels(ctx, s.AccountID)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, l := range labels {
		if l.AvailableToClassifier {
			texts = append(texts, strings.TrimSuffix(cleantext.OneLine(l.Name)+": "+cleantext.OneLine(l.Description), ": "))
		}
	}
	return orNothing(texts), nil
}

// wordsOf returns the words of a query, without anything that an index could take for an operator.
func wordsOf(query string) []string {
	words := splitWords(query)
	return words[:min(len(words), maxWords)]
}

// splitWords returns the words of a text in lower case, in which OR and AND are no operators.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(cleantext.Visible(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func orNothing(texts []string) string {
	if len(texts) == 0 {
		return "(nothing found)"
	}
	for i, t := range texts {
		texts[i] = fmt.Sprintf("%d. %s", i+1, t)
	}
	return strings.Join(texts, "\n\n")
}
