package rules_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

// now is when the tests decide.
var now = rulestest.Now

func letter() *postroom.Message {
	return &postroom.Message{
		AccountID: "acc",
		From:      postroom.Address{Name: "boss@big.example", Email: "Amy.Lee@Shop.Example"},
		To:        []postroom.Address{{Email: "me@home.example"}, {Name: "Team", Email: "Team@Work.example"}},
		Cc:        []postroom.Address{{Email: "carl@other.example"}},
		Subject:   "Ihre RÄUMUNG: 50% [Rabatt]",
		Headers: []postroom.Header{
			{Name: "Received", Value: "by a"}, {Name: "Received", Value: "by b"},
			{Name: "LIST-ID", Value: "Dev <dev.lists.example>"}, {Name: "X-Empty", Value: ""},
		},
		LabelIDs:   []string{"INBOX", "Label_7"},
		BodyPlain:  "Guten Tag,\nÜbermorgen ist Schluss, only in plain.",
		BodyHTML:   "<p>Guten Tag,<p>\u00dcber<b>mor</b>gen ist Schluss, <i>only in HTML</i><span style='display:none'>hidden</span>.",
		ReceivedAt: now.Add(-48 * time.Hour),
		Date:       now.Add(-1000 * time.Hour),
		Size:       2 << 20,
	}
}

func TestPredicates(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		condition rules.Condition
		want      bool
	}{
		"sender whole":                   {rulestest.Predicate(rules.SenderEmail, "amy.lee@shop.example"), yes},
		"sender part":                    {rulestest.Predicate(rules.SenderEmail, "lee@shop.example"), no},
		"sender display name":            {rulestest.Predicate(rules.SenderEmail, "boss@big.example"), no},
		"sender wildcard":                {rulestest.Predicate(rules.SenderEmail, "*@SHOP.example"), yes},
		"sender wildcard, subdomain":     {rulestest.Predicate(rules.SenderEmail, "*@example"), no},
		"domain":                         {rulestest.Predicate(rules.SenderDomain, "shop.EXAMPLE"), yes},
		"domain suffix":                  {rulestest.Predicate(rules.SenderDomain, "example"), no},
		"domain prefix":                  {rulestest.Predicate(rules.SenderDomain, "shop.examples"), no},
		"to second":                      {rulestest.Predicate(rules.To, "team@work.example"), yes},
		"to wildcard":                    {rulestest.Predicate(rules.To, "*@home.example"), yes},
		"to does not see cc":             {rulestest.Predicate(rules.To, "carl@other.example"), no},
		"cc":                             {rulestest.Predicate(rules.Cc, "CARL@other.example"), yes},
		"cc does not see to":             {rulestest.Predicate(rules.Cc, "me@home.example"), no},
		"subject, Unicode case":          {rulestest.Predicate(rules.SubjectContains, "räumung"), yes},
		"subject, value's case":          {rulestest.Predicate(rules.SubjectContains, "RABATT"), yes},
		"subject takes brackets as such": {rulestest.Predicate(rules.SubjectContains, "[rabatt]"), yes},
		"subject, other":                 {rulestest.Predicate(rules.SubjectContains, "miete"), no},
		"subject regex, anywhere":        {rulestest.Predicate(rules.SubjectRegex, `\d+%`), yes},
		"subject regex minds case":       {rulestest.Predicate(rules.SubjectRegex, "ihre"), no},
		"subject regex told not to":      {rulestest.Predicate(rules.SubjectRegex, "(?i)^ihre"), yes},
		"body":                           {rulestest.Predicate(rules.BodyContains, "übermorgen IST"), yes},
		"body, phrase over lines":        {rulestest.Predicate(rules.BodyContains, "tag, \n übermorgen"), yes},
		"body, blank at the edge":        {rulestest.Predicate(rules.BodyContains, "morgen "), yes},
		"body, blank within a word":      {rulestest.Predicate(rules.BodyContains, "mor gen"), no},
		"body, HTML beside plain":        {rulestest.Predicate(rules.BodyContains, "schluss, only in html."), yes},
		"body, plain beside HTML":        {rulestest.Predicate(rules.BodyContains, "only in plain"), no},
		"body, hidden in HTML":           {rulestest.Predicate(rules.BodyContains, "hidden"), no},
		"body regex over lines":          {rulestest.Predicate(rules.BodyRegex, `(?m)^Über\w+`), yes},
		"header of any case":             {rulestest.Header("List-Id", `<dev\.`), yes},
		"header, second of several":      {rulestest.Header("received", "by b"), yes},
		"header, none":                   {rulestest.Header("X-None", ""), no},
		"header, empty":                  {rulestest.Header("X-Empty", "^$"), yes},
		"header present":                 {rules.Condition{Type: rules.HeaderPresent, Header: "list-id"}, yes},
		"header present, empty":          {rules.Condition{Type: rules.HeaderPresent, Header: "x-empty"}, yes},
		"header absent":                  {rules.Condition{Type: rules.HeaderPresent, Header: "x-none"}, no},
		"label":                          {rulestest.Predicate(rules.LabelPresent, "Label_7"), yes},
		"label minds case":               {rulestest.Predicate(rules.LabelPresent, "label_7"), no},
		"label part":                     {rulestest.Predicate(rules.LabelPresent, "Label_"), no},
		"no attachment":                  {rulestest.Predicate(rules.HasAttachment, ""), no},
		"larger":                         {rulestest.Predicate(rules.LargerThan, "1MB"), yes},
		"larger, equal":                  {rulestest.Predicate(rules.LargerThan, "2MB"), no},
		"smaller":                        {rulestest.Predicate(rules.SmallerThan, "2.5 mb"), yes},
		"smaller, equal":                 {rulestest.Predicate(rules.SmallerThan, "2048KB"), no},
		"older":                          {rulestest.Predicate(rules.OlderThan, "47h"), yes},
		"older, equal":                   {rulestest.Predicate(rules.OlderThan, "2d"), no},
		"older goes by receipt":          {rulestest.Predicate(rules.OlderThan, "1w"), no},
		"newer":                          {rulestest.Predicate(rules.NewerThan, "1y"), yes},
		"newer, equal":                   {rulestest.Predicate(rules.NewerThan, "48h"), no},
	} {
		t.Run(name, func(t *testing.T) {
			if test.condition.Type == rules.HeaderMatch && test.condition.Pattern == "" {
				test.condition.Pattern = ".*"
			}
			require.Equal(t, test.want, rulestest.Matches(t, test.condition, letter()))
		})
	}
}

func TestWhatAMessageLacksMatchesNothing(t *testing.T) {
	empty := &postroom.Message{}
	for _, c := range []rules.Condition{
		rulestest.Predicate(rules.SenderEmail, "*@shop.example"), rulestest.Predicate(rules.SenderDomain, "shop.example"),
		rulestest.Predicate(rules.To, "a@b.example"), rulestest.Predicate(rules.Cc, "a@b.example"),
		rulestest.Predicate(rules.SubjectContains, "x"), rulestest.Predicate(rules.SubjectRegex, ".*"),
		rulestest.Predicate(rules.BodyContains, "x"), rulestest.Predicate(rules.BodyRegex, ".*"),
		rulestest.Header("List-Id", ".*"), {Type: rules.HeaderPresent, Header: "List-Id"},
		rulestest.Predicate(rules.LabelPresent, "INBOX"), rulestest.Predicate(rules.HasAttachment, ""),
		rulestest.Predicate(rules.LargerThan, "0B"), rulestest.Predicate(rules.SmallerThan, "1GB"),
		rulestest.Predicate(rules.OlderThan, "0d"), rulestest.Predicate(rules.NewerThan, "1y"),
	} {
		require.False(t, rulestest.Matches(t, c, empty), c.String())
		require.True(t, rulestest.Matches(t, rules.NoneOf(c), empty), c.String())
	}
}

// K (U+212A) is the Kelvin sign; Unicode's lower case of it is k, and so it is not in a name.
func TestAddressesThatOnlyLookEqualAreNot(t *testing.T) {
	msg := &postroom.Message{From: postroom.Address{Email: "amy@ban\u212A.example"}}
	require.False(t, rulestest.Matches(t, rulestest.Predicate(rules.SenderDomain, "bank.example"), msg))
	require.False(t, rulestest.Matches(t, rulestest.Predicate(rules.SenderEmail, "*@bank.example"), msg))
	require.False(t, rulestest.Matches(t, rulestest.Predicate(rules.SenderEmail, "amy@bank.example"), msg))

	broken := func(b string) *postroom.Message { return &postroom.Message{From: postroom.Address{Email: "a@" + b}} }
	require.False(t, rulestest.Matches(t, rulestest.Predicate(rules.SenderDomain, "\xfe"), broken("\xff")),
		"bytes that are no UTF-8 are not all the same")
}

func TestHasAttachment(t *testing.T) {
	for name, test := range map[string]struct {
		attachment postroom.Attachment
		want       bool
	}{
		"a file":                   {postroom.Attachment{Filename: "a.pdf"}, true},
		"a file without a name":    {postroom.Attachment{ContentType: "application/pdf"}, true},
		"a picture of the body":    {postroom.Attachment{Filename: "logo.png", Inline: true, ContentID: "x@y"}, false},
		"a picture without a mark": {postroom.Attachment{Filename: "logo.png", ContentID: "x@y", Kind: "picture"}, false},
		"a signature":              {postroom.Attachment{Filename: "smime.p7s", Kind: "signature"}, false},
		"a calendar with a name":   {postroom.Attachment{Filename: "invite.ics", Kind: "calendar"}, true},
		"a calendar without one":   {postroom.Attachment{ContentType: "text/calendar", Kind: "calendar"}, false},
		"a nameless inline part":   {postroom.Attachment{Inline: true}, false},
		"Apple Mail's inline file": {postroom.Attachment{Filename: "a.pdf", Inline: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			msg := &postroom.Message{Attachments: []postroom.Attachment{test.attachment}}
			require.Equal(t, test.want, rulestest.Matches(t, rulestest.Predicate(rules.HasAttachment, ""), msg))
		})
	}
}

func TestBodyOfHTMLAlone(t *testing.T) {
	msg := &postroom.Message{BodyPlain: " \n",
		BodyHTML: "<html><head><title>t</title><STYLE>.unsubscribe{}</STYLE></head><body class='offer'>" +
			"Fish &amp;\n  chips<br>for <b>you</b><!-- comment --><script>var x = 'script';</script> 1 < 2 & 3 > 2</body>"}
	for text, want := range map[string]bool{
		"fish & chips for you": true, "1 < 2": true,
		"unsubscribe": false, "offer": false, "comment": false, "script": false, "body": false,
	} {
		require.Equal(t, want, rulestest.Matches(t, rulestest.Predicate(rules.BodyContains, text), msg), text)
	}
	require.True(t, rulestest.Matches(t, rulestest.Predicate(rules.BodyRegex, "^Fish & chips"), msg))
}

func TestFaultyConditionsAreTold(t *testing.T) {
	deep := `{"type":"has_attachment"}`
	for range 40 {
		deep = `{"op":"not","children":[` + deep + `]}`
	}
	for name, test := range map[string]struct {
		json string
		want error
		path string
	}{
		"empty":                     {`{}`, rules.ErrEmptyCondition, ""},
		"null":                      {`null`, rules.ErrEmptyCondition, ""},
		"a list":                    {`[]`, rules.ErrUnknownShape, ""},
		"no JSON":                   {`{`, rules.ErrUnknownShape, ""},
		"two values":                {`{"type":"has_attachment"}{}`, rules.ErrUnknownShape, ""},
		"an unknown field":          {`{"type":"has_attachment","colour":"red"}`, rules.ErrUnknownShape, ""},
		"both shapes":               {`{"op":"and","type":"has_attachment","children":[{"type":"has_attachment"}]}`, rules.ErrUnknownShape, ""},
		"neither shape":             {`{"value":"x"}`, rules.ErrUnknownShape, ""},
		"a predicate with children": {`{"type":"has_attachment","children":[{"type":"has_attachment"}]}`, rules.ErrUnknownShape, "children"},
		"children alone":            {`{"children":[{"type":"has_attachment"}]}`, rules.ErrUnknownShape, ""},
		"an unknown operator":       {`{"op":"xor","children":[{"type":"has_attachment"}]}`, rules.ErrUnknownOperator, "op"},
		"an unknown type":           {`{"op":"not","children":[{"type":"mood","value":"x"}]}`, rules.ErrUnknownType, "children[0].type"},
		"and without children":      {`{"op":"and"}`, rules.ErrNoChildren, "children"},
		"or without children":       {`{"op":"or","children":[]}`, rules.ErrNoChildren, "children"},
		"not without children":      {`{"op":"not"}`, rules.ErrNotOneChild, "children"},
		"not with two":              {`{"op":"not","children":[{"type":"has_attachment"},{"type":"has_attachment"}]}`, rules.ErrNotOneChild, "children"},
		"an empty child":            {`{"op":"and","children":[{"type":"has_attachment"},{}]}`, rules.ErrEmptyCondition, "children[1]"},
		"no value":                  {`{"type":"subject_contains"}`, rules.ErrMissingField, "value"},
		"a blank value":             {`{"type":"subject_contains","value":" "}`, rules.ErrMissingField, "value"},
		"no pattern":                {`{"type":"header_match","header":"List-Id"}`, rules.ErrMissingField, "pattern"},
		"a field of another type":   {`{"type":"has_attachment","value":"pdf"}`, rules.ErrSurplusField, "value"},
		"a bad regex":               {`{"type":"subject_regex","value":"("}`, rules.ErrBadRegex, "value"},
		"a bad regex in a header":   {`{"type":"header_match","header":"List-Id","pattern":"["}`, rules.ErrBadRegex, "pattern"},
		"a look-ahead":              {`{"type":"body_regex","value":"(?=x)"}`, rules.ErrBadRegex, "value"},
		"a bad wildcard":            {`{"type":"sender_email","value":"a*@x.example"}`, rules.ErrBadValue, "value"},
		"a wildcard for everything": {`{"type":"sender_email","value":"*@"}`, rules.ErrBadValue, "value"},
		"an address with name":      {`{"type":"to","value":"Amy <amy@x.example>"}`, rules.ErrBadValue, "value"},
		"a domain with @":           {`{"type":"sender_domain","value":"@x.example"}`, rules.ErrBadValue, "value"},
		"a header with colon":       {`{"type":"header_present","header":"List-Id:"}`, rules.ErrBadValue, "header"},
		"a size without unit":       {`{"type":"larger_than","value":"5"}`, rules.ErrBadValue, "value"},
		"a negative size":           {`{"type":"larger_than","value":"-5MB"}`, rules.ErrBadValue, "value"},
		"a size beyond all":         {`{"type":"larger_than","value":"99999999999GB"}`, rules.ErrBadValue, "value"},
		"a size of no number":       {`{"type":"larger_than","value":"NaNMB"}`, rules.ErrBadValue, "value"},
		"an age in months":          {`{"type":"older_than","value":"3m"}`, rules.ErrBadValue, "value"},
		"an age beyond all":         {`{"type":"older_than","value":"4000000000y"}`, rules.ErrBadValue, "value"},
		"too deep":                  {deep, rules.ErrTooDeep, strings.TrimSuffix(strings.Repeat("children[0].", 32), ".")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rules.ParseCondition([]byte(test.json))
			require.ErrorIs(t, err, test.want)
			var fault *rules.ConditionError
			if test.path != "" {
				require.ErrorAs(t, err, &fault)
				require.Equal(t, test.path, fault.Path)
				require.Contains(t, err.Error(), "condition."+test.path+": ")
			}
		})
	}
}

func TestAllFaultsOfAConditionAreToldAtOnce(t *testing.T) {
	err := rules.AllOf(rulestest.Predicate(rules.SubjectRegex, "("), rules.AnyOf(),
		rulestest.Predicate("mood", "x")).Validate()
	require.EqualError(t, err, "condition.children[0].value: bad regular expression: missing closing ): `(`; "+
		"the syntax is Go's (RE2); a backslash before a character takes it literally\n"+
		"condition.children[1].children: \"and\" and \"or\" need at least one child: \"or\" has none\n"+
		"condition.children[2].type: unknown condition type: \"mood\"; "+
		"the types are address, address_count, address_digits, address_order, attachment_name, attachment_type, authenticated, authentication, automatic, body, body_contains, body_regex, bounce, calendar, category, cc, date, date_count, "+
		"has_action_items, has_attachment, has_event, header, header_count, header_digits, header_match, header_number, header_order, header_present, hidden_text, i_answered, important, incomplete, is_reply, label_present, larger_than, list_id, newer_than, "+
		"now, older_than, parts_disagree, priority, received, recipient_count, sender_confusable, sender_domain, sender_email, sender_seen, sender_spoofed, sender_written_to, since_i_wrote, smaller_than, starred, subject, subject_contains, subject_regex, they_answered, thread_quiet, time_of_day, to, topic, unread, unsubscribe, weekday")
}

func TestConditionReadsLikeASentence(t *testing.T) {
	c := rules.AllOf(rulestest.Predicate(rules.SenderDomain, "x.example"),
		rules.AnyOf(rulestest.Header("List-Id", "dev"), rules.NoneOf(rulestest.Predicate(rules.HasAttachment, ""))))
	require.Equal(t, `sender_domain "x.example" and (header_match List-Id "dev" or not has_attachment)`, c.String())
	require.Equal(t, `subject_regex "\bcodes?\b"`, rulestest.Predicate(rules.SubjectRegex, `\bcodes?\b`).String(),
		"a regular expression is shown as it was written")
	require.Equal(t, `not (has_attachment and to "a@b.example")`,
		rules.NoneOf(rules.AllOf(rulestest.Predicate(rules.HasAttachment, ""),
			rulestest.Predicate(rules.To, "a@b.example"))).String())
}

func TestJSONFormOfACondition(t *testing.T) {
	c := rules.AllOf(rulestest.Header("List-Id", "x"), rulestest.Predicate(rules.SenderEmail, "*@y.example"))
	data, err := json.Marshal(c)
	require.NoError(t, err)
	require.JSONEq(t,
		`{"op":"and","children":[{"type":"header_match","header":"List-Id","pattern":"x"},{"type":"sender_email","value":"*@y.example"}]}`, string(data))
}
