package postroom

// Label ids that Gmail defines for every mailbox. All others belong to one account.
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

// A LabelType tells labels that the provider defines from those that the user made.
type LabelType string

// The types of a label, as Gmail names them.
const (
	LabelSystem LabelType = "system"
	LabelUser   LabelType = "user"
)

// A Label is a name that an account's messages can carry. Its ID is stable, its Name is not; "/" in a name nests.
type Label struct {
	ID        string
	AccountID string
	Name      string
	Type      LabelType

	// Description tells a model what the label is for; AvailableToClassifier whether the model may choose it. Both are
	// the user's and survive a sync.
	Description           string
	AvailableToClassifier bool
}
