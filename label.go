package postroom

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

	// Description explains the purpose of the label to a model. AvailableToClassifier reports whether a model may choose the
	// label. The user sets both; a sync does not change them.
	Description           string
	AvailableToClassifier bool
}
