package postroom

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The ids of the labels that Gmail defines in every mailbox. All other labels belong to one account.
const (
	LabelInbox     = "INBOX"
	LabelUnread    = "UNREAD"
	LabelStarred   = "STARRED"
	LabelImportant = "IMPORTANT"
	LabelSent      = "SENT"
	LabelDraft     = "DRAFT"
	LabelSpam      = "SPAM"
	LabelTrash     = "TRASH"
)

// A LabelType distinguishes the labels that the provider defines from those that the user made.
type LabelType string

// The types of a label, as Gmail names them.
const (
	LabelSystem LabelType = "system"
	LabelUser   LabelType = "user"
)

// A Label is a label of one account. The ID never changes; the Name can. A "/" in the name nests labels.
type Label struct {
	ID        string
	AccountID string
	Name      string
	Type      LabelType

	// Description explains the purpose of the label to a model. AvailableToClassifier reports whether a model may choose
	// the label. The user sets both; a sync does not change them.
	Description           string
	AvailableToClassifier bool
}

// MaxLabelName is the maximum length of a label's name at Gmail, in characters.
const MaxLabelName = 225

// reservedNames are the lower-case names that Gmail reserves for its own labels and views.
var reservedNames = []string{
	"inbox", "unread", "starred", "important", "sent", "draft", "spam", "trash", "chat", "category_personal",
	"category_social",
	"category_promotions", "category_updates", "category_forums",
	"all mail", "archive", "bin", "chats", "drafts", "junk", "muted", "scheduled", "sent mail", "snoozed",
}

// CheckLabelName returns an error if Gmail does not create a user label with the name, or if a person could not
// distinguish it from another label. The name must not be blank or longer than [MaxLabelName], must not have a blank
// at an end or an empty part at a slash, must not be one of Gmail's own in any case, and must not contain invisible
// characters, such as those that change the direction of text. CheckLabelName does not know which labels exist.
func CheckLabelName(name string) error {
	if fault := labelNameFault(name); fault != nil {
		return fmt.Errorf("label name %s: %w", quoteShort(name), fault)
	}
	return nil
}

func labelNameFault(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("it is blank; give the label a name")
	case strings.TrimSpace(name) != name:
		return errors.New("it begins or ends with a blank, which Gmail drops; leave the blank out")
	case slices.Contains(reservedNames, strings.ToLower(name)):
		return errors.New("the name is one of Gmail's own; choose another")
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.TrimSpace(part) == "" {
			return errors.New("a slash nests labels, and a part before or after one is blank; write parent/child")
		}
	}
	return unreadable(name)
}

// unreadable returns an error if a person could not distinguish the label from another, or if no label has such a name.
func unreadable(name string) error {
	if !utf8.ValidString(name) {
		return errors.New("it is not UTF-8; write it in UTF-8")
	}
	if n := utf8.RuneCountInString(name); n > MaxLabelName {
		return fmt.Errorf("it has %d characters and Gmail takes %d; shorten it", n, MaxLabelName)
	}
	if i := strings.IndexFunc(name, unseen); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("it contains the invisible character %U; leave it out", r)
	}
	return nil
}

// unseen reports whether a character is invisible. The two joiners are visible here: some languages and emoji need
// them.
func unseen(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != zwnj && r != zwj
}

// quoteShort quotes a text and cuts it to a length that suits an error.
func quoteShort(text string) string {
	const enough = 40
	if utf8.RuneCountInString(text) <= enough {
		return fmt.Sprintf("%+q", text)
	}
	return fmt.Sprintf("%+q…", string([]rune(text)[:enough]))
}
