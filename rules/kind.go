package rules

import (
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
)

// A Kind is the type of a predicate; the table in the package documentation lists them.
type Kind string

// The kinds of predicate.
const (
	SenderEmail     Kind = "sender_email"
	SenderDomain    Kind = "sender_domain"
	To              Kind = "to"
	Cc              Kind = "cc"
	SubjectContains Kind = "subject_contains"
	SubjectRegex    Kind = "subject_regex"
	BodyContains    Kind = "body_contains"
	BodyRegex       Kind = "body_regex"
	HeaderPresent   Kind = "header_present"
	HeaderMatch     Kind = "header_match"
	LabelPresent    Kind = "label_present"
	HasAttachment   Kind = "has_attachment"
	LargerThan      Kind = "larger_than"
	SmallerThan     Kind = "smaller_than"
	OlderThan       Kind = "older_than"
	NewerThan       Kind = "newer_than"

	Address        Kind = "address"
	AddressOrder   Kind = "address_order"
	AddressDigits  Kind = "address_digits"
	AddressCount   Kind = "address_count"
	RecipientCount Kind = "recipient_count"
	Subject        Kind = "subject"
	Body           Kind = "body"
	Header         Kind = "header"
	HeaderOrder    Kind = "header_order"
	HeaderNumber   Kind = "header_number"
	HeaderDigits   Kind = "header_digits"
	HeaderCount    Kind = "header_count"

	ListID         Kind = "list_id"
	IsReply        Kind = "is_reply"
	AttachmentName Kind = "attachment_name"
	AttachmentType Kind = "attachment_type"
	IsCalendar     Kind = "calendar"
	IsBounce       Kind = "bounce"
	IsAutomatic    Kind = "automatic"
	HasUnsubscribe Kind = "unsubscribe"

	Authenticated    Kind = "authenticated"
	AuthResult       Kind = "authentication"
	SenderSeen       Kind = "sender_seen"
	SenderSpoofed    Kind = "sender_spoofed"
	SenderConfusable Kind = "sender_confusable"
	HasHiddenText    Kind = "hidden_text"
	PartsDisagree    Kind = "parts_disagree"
	IsIncomplete     Kind = "incomplete"

	DateOf     Kind = "date"
	DateCount  Kind = "date_count"
	ReceivedAt Kind = "received"
	Now        Kind = "now"
	TimeOfDay  Kind = "time_of_day"
	Weekday    Kind = "weekday"

	Category  Kind = "category"
	Starred   Kind = "starred"
	Important Kind = "important"
	Unread    Kind = "unread"
)

// A kind defines how predicates of one type are written and compiled.
type kind struct {
	required []string // "values" means either value or values, "fields" either header or fields, if both are known
	optional []string // all others must be absent
	compile  func(k *code, c *Condition) (predicate, *ConditionError)
}

var (
	justValue   = []string{"value"}
	anyValue    = []string{"values"}
	matchedText = []string{"match", "case_sensitive"}
	compared    = []string{"compare", "value"}
	datePart    = []string{"part", "values"}
	dateOptions = []string{"match", "compare", "zone"}
)

var kinds = map[Kind]kind{
	SenderEmail:     {anyValue, nil, compileSenderEmail},
	SenderDomain:    {anyValue, nil, compileSenderDomain},
	To:              {anyValue, nil, compileTo},
	Cc:              {anyValue, nil, compileCc},
	SubjectContains: {anyValue, nil, compileSubjectContains},
	SubjectRegex:    {anyValue, nil, compileSubjectRegex},
	BodyContains:    {anyValue, nil, compileBodyContains},
	BodyRegex:       {anyValue, nil, compileBodyRegex},
	HeaderPresent:   {[]string{"header"}, nil, compileHeaderPresent},
	HeaderMatch:     {[]string{"header", "pattern"}, nil, compileHeaderMatch},
	LabelPresent:    {anyValue, nil, compileLabelPresent},
	HasAttachment:   {nil, nil, compileFact((*view).hasAttachment)},
	LargerThan:      {justValue, nil, compileLargerThan},
	SmallerThan:     {justValue, nil, compileSmallerThan},
	OlderThan:       {justValue, nil, compileOlderThan},
	NewerThan:       {justValue, nil, compileNewerThan},

	Address: {[]string{"fields", "values"}, []string{"part", "match", "case_sensitive", "index"}, compileAddresses},
	AddressOrder: {[]string{"fields", "compare", "value"}, []string{"part", "index", "case_sensitive"},
		compileAddressOrder},
	AddressDigits:  {[]string{"fields", "compare", "value"}, []string{"part", "index"}, compileAddressDigits},
	AddressCount:   {[]string{"fields", "compare", "value"}, []string{"index"}, compileAddressCount},
	RecipientCount: {compared, nil, compileRecipientCount},
	Subject:        {anyValue, matchedText, compileSubject},
	Body:           {anyValue, matchedText, compileBody},
	Header:         {[]string{"fields", "values"}, []string{"match", "case_sensitive", "index"}, compileHeader},
	HeaderOrder:    {[]string{"fields", "compare", "value"}, []string{"index", "case_sensitive"}, compileHeaderOrder},
	HeaderNumber:   {[]string{"fields", "compare", "value"}, []string{"index"}, compileHeaderNumber},
	HeaderDigits:   {[]string{"fields", "compare", "value"}, []string{"index"}, compileHeaderDigits},
	HeaderCount:    {[]string{"fields", "compare", "value"}, nil, compileHeaderCount},

	ListID:         {anyValue, []string{"match"}, compileListID},
	IsReply:        {nil, nil, compileFact((*view).isReply)},
	AttachmentName: {anyValue, matchedText, compileAttachmentName},
	AttachmentType: {anyValue, []string{"match"}, compileAttachmentType},
	IsCalendar:     {nil, nil, compileFact((*view).isCalendar)},
	IsBounce:       {nil, nil, compileFact((*view).isBounce)},
	IsAutomatic:    {nil, anyValue, compileAutomatic},
	HasUnsubscribe: {nil, anyValue, compileUnsubscribe},

	Authenticated:    {nil, nil, compileFact((*view).isAuthenticated)},
	AuthResult:       {[]string{"part", "values"}, nil, compileAuthResult},
	SenderSeen:       {nil, nil, compileSenderSeen},
	SenderSpoofed:    {nil, nil, compileFact((*view).isSpoofed)},
	SenderConfusable: {nil, anyValue, compileConfusable},
	HasHiddenText:    {nil, justValue, compileHiddenText},
	PartsDisagree:    {nil, nil, compilePartsDisagree},
	IsIncomplete:     {nil, nil, compileFact((*view).isIncomplete)},

	DateOf:     {datePart, []string{"header", "index", "match", "compare", "zone"}, compileDate},
	DateCount:  {compared, []string{"header", "index"}, compileDateCount},
	ReceivedAt: {datePart, dateOptions, compileReceived},
	Now:        {datePart, dateOptions, compileNow},
	TimeOfDay:  {anyValue, []string{"zone"}, compileTimeOfDay},
	Weekday:    {anyValue, []string{"zone"}, compileWeekday},

	Category:  {anyValue, nil, compileCategory},
	Starred:   {nil, nil, compileSystemLabel(postroom.LabelStarred)},
	Important: {nil, nil, compileSystemLabel(postroom.LabelImportant)},
	Unread:    {nil, nil, compileSystemLabel(postroom.LabelUnread)},
}

// Kinds returns the types of predicate, sorted by name.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

func kindNames() []string {
	names := make([]string, 0, len(kinds))
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return names
}
