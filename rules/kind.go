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
	SenderWrittenTo  Kind = "sender_written_to"
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

	IAnswered    Kind = "i_answered"
	TheyAnswered Kind = "they_answered"
	ThreadQuiet  Kind = "thread_quiet"
	SinceIWrote  Kind = "since_i_wrote"

	Topic          Kind = "topic"
	Priority       Kind = "priority"
	HasActionItems Kind = "has_action_items"
	HasEvent       Kind = "has_event"

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
	SenderWrittenTo:  {nil, nil, compileSenderWrittenTo},
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

	IAnswered:    {nil, nil, compileIAnswered},
	TheyAnswered: {nil, nil, compileTheyAnswered},
	ThreadQuiet:  {justValue, nil, compileThreadQuiet},
	SinceIWrote:  {justValue, nil, compileSinceIWrote},

	Topic:          {anyValue, nil, compileTopic},
	Priority:       {anyValue, nil, compilePriority},
	HasActionItems: {nil, nil, compileHasActionItems},
	HasEvent:       {nil, nil, compileHasEvent},

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

// Means says in a few words when a predicate of the type matches; empty for an unknown type. Its fields go by the
// names that files have for them.
func (k Kind) Means() string { return kindSummaries[k] }

// kindSummaries say when a predicate of each type matches, as the table in the package documentation does.
var kindSummaries = map[Kind]string{
	SenderEmail:      "the From address is value, or is in the domain of *@domain",
	SenderDomain:     "the From address's domain is value",
	To:               "any To or Cc address is value, or is in the domain of *@domain",
	Cc:               "any To or Cc address is value, or is in the domain of *@domain",
	SubjectContains:  "the subject holds value",
	SubjectRegex:     "the regular expression value matches in the subject",
	BodyContains:     "the body's text holds value",
	BodyRegex:        "the regular expression value matches in the body's text",
	HeaderPresent:    "there is such a header field, empty or not",
	HeaderMatch:      "the regular expression pattern matches in any such header field",
	LabelPresent:     "the message has the label with the id value",
	HasAttachment:    "a file is attached; pictures of the body, signatures, reports and nameless calendars do not count",
	LargerThan:       "the raw message has more bytes than value: B, KB, MB or GB, as in 1MB",
	SmallerThan:      "the raw message has fewer bytes than value",
	OlderThan:        "it was received longer ago than value: h, d, w or y, as in 7d",
	NewerThan:        "it was received less long ago than value",
	Address:          "a part of an address in one of the fields is value",
	AddressOrder:     "the text of a part of an address, by the order of characters",
	AddressDigits:    "the digits that a part of an address begins with, as header_digits",
	AddressCount:     "the number of addresses in the fields",
	RecipientCount:   "the number of addresses in To, Cc and Bcc",
	Subject:          "the subject is value",
	Body:             "the body's text holds value; match may also be wildcard or regex",
	Header:           "a header field is value; index takes one of several, from 1, or from -1 for the last",
	HeaderOrder:      "the text of a header field, by the order of characters",
	HeaderNumber:     "the number that a header field begins with",
	HeaderDigits:     "the digits that a header field begins with; none is more than any number (RFC 4790)",
	HeaderCount:      "the number of header fields of the name",
	ListID:           "the mailing list's id (RFC 2919) is value",
	IsReply:          "it answers another message",
	AttachmentName:   "the name of an attached file is value; wildcard is the default, as in *.pdf",
	AttachmentType:   "the media type of an attached part is value; wildcard is the default, as in image/*",
	IsCalendar:       "it carries an invitation or an answer to one",
	IsBounce:         "it reports that another message was not delivered (RFC 3464)",
	IsAutomatic:      "no person wrote it: auto_reply, auto_generated, bulk and others (RFC 3834)",
	HasUnsubscribe:   "one can leave its list: one_click, web, mail",
	Authenticated:    "the server that received it verified the domain of its sender (RFC 8601, 7489)",
	AuthResult:       "that server's result of spf, dkim, dmarc or arc is value: pass, fail … or missing",
	SenderSeen:       "the account has had mail from the sender before",
	SenderWrittenTo:  "the owner had written to the sender before it came",
	IAnswered:        "the owner has written in its thread after it",
	TheyAnswered:     "another has written in its thread after the owner last did",
	ThreadQuiet:      "the last message of its thread is longer ago than value: h, d, w or y, as in 7d",
	SinceIWrote:      "the owner last wrote in its thread longer ago than value",
	SenderSpoofed:    "the display name holds an address of another site",
	SenderConfusable: "the sender's site looks like value and is another (UTS 39); without value: scripts are mixed",
	HasHiddenText:    "the body hides at least value characters from its reader; 1 without value",
	PartsDisagree:    "plain text and HTML are different messages",
	IsIncomplete:     "a part was not read, since the message is too large or too deep",
	DateOf:           "a part of the date in header, which is Date unless it is named (RFC 5260)",
	DateCount:        "the number of header fields with a date, of the name in header or Date",
	ReceivedAt:       "a part of the time at which the provider received the message",
	Now:              "a part of the present time",
	TimeOfDay:        "it was received at this time of a day, as in 22:00-06:00",
	Weekday:          "it was received on this day: mon, tue, wed, thu, fri, sat or sun",
	Topic:            "the category that was found out for it is value, of the owner's categories",
	Priority:         "the importance that was found out for it is value, of the owner's levels",
	HasActionItems:   "it asks its reader to do something, as was found out",
	HasEvent:         "it names an appointment, as was found out",
	Category:         "Gmail's tab is value: primary, social, promotions, updates or forums",
	Starred:          "it has Gmail's star",
	Important:        "Gmail has marked it so",
	Unread:           "it has not been read",
}
