package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// parcel is a message with something of everything.
func parcel() *postroom.Message {
	return &postroom.Message{
		AccountID: "acc",
		From:      postroom.Address{Name: "Amy Lee", Email: "Amy.Lee+Shop@mail.shop.co.uk"},
		ReplyTo:   []postroom.Address{{Email: "answers@shop.co.uk"}},
		To:        []postroom.Address{{Email: "me+bills@home.example"}, {Name: "Team", Email: "team@work.example"}},
		Cc:        []postroom.Address{{Email: "carl@other.example"}},
		Bcc:       []postroom.Address{{Email: "archive@home.example"}},
		Subject:   "Re: Ihre RÄUMUNG 7",
		InReplyTo: "1@home.example",
		Headers: []postroom.Header{
			{Name: "Delivered-To", Value: "me@home.example"},
			{Name: "Received", Value: "by 2002:a05:6a10 with SMTP id x; Sun, 1 Mar 2026 01:30:00 -0800 (PST)"},
			{Name: "Received", Value: "from out.shop.co.uk by mx.google.com with ESMTPS id y; Sun, 1 Mar 2026 01:29:58 -0800 (PST)"},
			{Name: "Authentication-Results", Value: "mx.google.com; dkim=pass header.d=shop.co.uk; spf=softfail; dmarc=pass header.from=mail.shop.co.uk"},
			{Name: "Sender", Value: "Robot <robot@sender.example>"},
			{Name: "Date", Value: "Sat, 28 Feb 2026 23:15:09 -0300"},
			{Name: "X-Spam-Score", Value: "-1.5 (low)"}, {Name: "X-Mark", Value: "first"}, {Name: "X-Mark", Value: "second"},
			{Name: "X-Mark", Value: "third"}, {Name: "X-Priority", Value: "3 (normal)"}, {Name: "List-Id", Value: "Dev <Dev.Lists.example>"},
			{Name: "List-Unsubscribe", Value: "<https://shop.co.uk/leave>, <mailto:leave@shop.co.uk>"},
		},
		LabelIDs:  []string{"CATEGORY_PERSONAL", "IMPORTANT", "INBOX"},
		BodyPlain: "Guten Tag,\nÜbermorgen   ist Schluss.",
		Attachments: []postroom.Attachment{
			{Filename: "Invoice 7.PDF", ContentType: "application/pdf"},
			{Filename: "invite.ics", ContentType: "text/calendar; method=REQUEST", Kind: "calendar"},
		},
		ReceivedAt: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), // a Sunday
		Size:       4096,
	}
}

// of makes a predicate from its YAML form.
func of(t testing.TB, condition string) rules.Condition {
	t.Helper()
	file, err := rulesfile.Parse("r.yaml", strings.NewReader("rules: [{name: r, action: archive, condition: "+condition+
		"}]"), rulesfile.WithFiles(lists))
	require.NoError(t, err)
	return file.Rules[0].Condition
}

var lists = fstest.MapFS{"lists/domains.txt": {Data: []byte("\uFEFF# ours\nother.example\r\n\n  Work.Example\n")}}

var predicateCases = []struct {
	condition string
	want      bool
}{
	{"{type: address, fields: [from], value: amy.lee+shop@MAIL.shop.co.uk}", true},
	{"{type: address, fields: [from], value: lee+shop@mail.shop.co.uk}", false},
	{"{type: address, fields: [from], value: Amy, match: contains}", true},
	{"{type: address, fields: [from], value: Amy, match: contains, case_sensitive: true}", true},
	{"{type: address, fields: [from], value: amy, match: contains, case_sensitive: true}", false},
	{"{type: address, fields: [from], part: local, value: amy.lee+shop}", true},
	{"{type: address, fields: [from], part: user, value: amy.lee}", true},
	{"{type: address, fields: [from], part: detail, value: shop}", true},
	{"{type: address, fields: [cc], part: detail, value: '*', match: wildcard}", false},
	{"{type: address, fields: [from], part: domain, value: mail.shop.co.uk}", true},
	{"{type: address, fields: [from], part: domain, value: shop.co.uk}", false},
	{"{type: address, fields: [from], part: domain, value: '*.co.uk', match: wildcard}", true},
	{"{type: address, fields: [from], part: site, value: shop.co.uk}", true},
	{"{type: address, fields: [from], part: name, value: amy lee}", true},
	{"{type: address, fields: [from], part: name, value: 'shop', match: contains}", false},
	{"{type: address, fields: [to], value: carl@other.example}", false},
	{"{type: address, fields: [to, cc], value: carl@other.example}", true},
	{"{type: address, fields: [recipients], value: archive@home.example}", true},
	{"{type: address, fields: [bcc], part: domain, value: home.example}", true},
	{"{type: address, fields: [reply_to], value: answers@shop.co.uk}", true},
	{"{type: address, fields: [sender], part: name, value: robot}", true},
	{"{type: address, fields: [to], match: regex, value: '^TEAM'}", false},
	{"{type: address, fields: [to], match: regex, value: '(?i)^TEAM'}", true},
	{"{type: address, fields: [to, cc], part: domain, values_from: lists/domains.txt}", true},
	{"{type: sender_domain, values: [b.example, mail.shop.co.uk]}", true},
	{"{type: sender_email, values: [a@b.example, '*@mail.shop.co.uk']}", true},
	{"{type: sender_email, values: [a@b.example, '*@c.example']}", false},
	{"{type: address_count, fields: [to, cc], compare: eq, value: '3'}", true},
	{"{type: address_count, fields: [to, cc], compare: eq, value: '3', index: 1}", true},
	{"{type: address_count, fields: [to], compare: eq, value: '0', index: 2}", true},
	{"{type: address, fields: [to], value: team@work.example, index: 1}", true},
	{"{type: address, fields: [cc, to], value: team@work.example, index: -1}", true},
	{"{type: address, fields: [to], value: team@work.example, index: 2}", false},
	{"{type: address, fields: [sender], value: robot@sender.example, index: -1}", true},
	{"{type: address, fields: [envelope_to], value: me@home.example, index: 1}", true},
	{"{type: address_order, fields: [cc], compare: gt, value: carl}", true},
	{"{type: address_order, fields: [to], part: domain, compare: lt, value: HOME.examplf}", true},
	{"{type: address_order, fields: [to], part: domain, compare: gt, value: zoo}", false},
	{"{type: address_order, fields: [cc], compare: lt, value: Carl@zoo.example, case_sensitive: true}", false},
	{"{type: address_digits, fields: [cc], part: local, compare: gt, value: '5'}", true},
	{"{type: address_digits, fields: [cc], part: local, compare: eq, value: none}", true},
	{"{type: address_digits, fields: [cc], part: local, compare: lt, value: '5'}", false},
	{"{type: recipient_count, compare: gt, value: '4'}", false},
	{"{type: recipient_count, compare: ge, value: '4'}", true},

	{"{type: subject, value: 're: ihre räumung 7'}", true},
	{"{type: subject, value: 'ihre räumung'}", false},
	{"{type: subject, match: wildcard, value: 're:*räum??? 7'}", true},
	{"{type: subject, match: wildcard, value: 're:*räum?? 7'}", false},
	{"{type: subject, match: wildcard, value: 're: ihre r\\* 7'}", false},
	{"{type: subject, match: contains, value: RÄUMUNG, case_sensitive: true}", true},
	{"{type: subject, match: contains, value: Räumung, case_sensitive: true}", false},
	{"{type: subject, match: contains, values: [a1, b2, c3, d4, e5, f6, g7, h8, i9, ' räumung ']}", true},
	{"{type: subject, match: contains, values: [a1, b2, c3, d4, e5, f6, g7, h8, i9, 'räumung  ']}", false},
	{"{type: body, value: 'tag, übermorgen ist'}", true},
	{"{type: body, match: wildcard, value: 'guten*schluss.'}", true},
	{"{type: body, match: regex, value: 'morgen +ist'}", true},

	{"{type: header, header: x-mark, value: SECOND}", true},
	{"{type: header, header: x-mark, value: second, index: 2}", true},
	{"{type: header, header: x-mark, value: second, index: 1}", false},
	{"{type: header, header: x-mark, value: second, index: -2}", true},
	{"{type: header, header: x-mark, value: third, index: -1}", true},
	{"{type: header, header: x-mark, value: first, index: -4}", false},
	{"{type: header, header: x-mark, value: first, index: 4}", false},
	{"{type: header, fields: [X-None, X-Mark], value: hir, match: contains}", true},
	{"{type: header_count, header: x-mark, compare: eq, value: '3'}", true},
	{"{type: header_count, fields: [x-mark, list-id], compare: gt, value: '3'}", true},
	{"{type: header_count, header: x-none, compare: eq, value: '0'}", true},
	{"{type: header_number, header: x-spam-score, compare: lt, value: '-1'}", true},
	{"{type: header_number, header: x-mark, compare: ne, value: '1'}", false},
	{"{type: header_digits, header: x-priority, compare: lt, value: '10'}", true},
	{"{type: header_digits, header: x-priority, compare: eq, value: '003'}", true},
	{"{type: header_digits, header: x-priority, compare: ne, value: '3'}", false},
	{"{type: header_digits, header: x-spam-score, compare: gt, value: '99999999999999999999'}", true},
	{"{type: header_digits, header: x-mark, compare: eq, value: none, index: 2}", true},
	{"{type: header_order, header: x-mark, compare: gt, value: SET}", true},
	{"{type: header_order, header: x-mark, compare: gt, value: u}", false},

	{"{type: list_id, value: dev.lists.EXAMPLE}", true},
	{"{type: list_id, value: '*.lists.example', match: wildcard}", true},
	{"{type: list_id, value: dev}", false},
	{"{type: is_reply}", true},
	{"{type: attachment_name, value: '*.pdf'}", true},
	{"{type: attachment_name, value: 'invoice', match: is}", false},
	{"{type: attachment_type, value: application/pdf}", true},
	{"{type: attachment_type, value: 'text/*'}", true},
	{"{type: attachment_type, value: 'image/*'}", false},
	{"{type: calendar}", true},
	{"{type: bounce}", false},
	{"{type: automatic}", true},
	{"{type: automatic, value: bulk}", true},
	{"{type: automatic, value: auto_reply}", false},
	{"{type: unsubscribe}", true},
	{"{type: unsubscribe, value: mail}", true},
	{"{type: unsubscribe, value: one_click}", false},

	{"{type: authenticated}", true},
	{"{type: authentication, part: spf, value: softfail}", true},
	{"{type: authentication, part: dkim, values: [fail, missing]}", false},
	{"{type: authentication, part: arc, value: missing}", true},
	{"{type: sender_seen}", false},
	{"{type: sender_spoofed}", false},
	{"{type: sender_confusable, value: sh0p.co.uk}", true},
	{"{type: sender_confusable, values: [sh0p.co.uk, shop.co.uk]}", false},
	{"{type: sender_confusable}", false},
	{"{type: hidden_text}", false},
	{"{type: parts_disagree}", false},
	{"{type: incomplete}", false},

	{"{type: date, part: hour, value: '2'}", true},
	{"{type: date, part: date, value: '2026-03-01'}", true},
	{"{type: date, part: date, zone: original, value: '2026-02-28'}", true},
	{"{type: date, part: weekday, zone: original, value: sat}", true},
	{"{type: date, part: zone, zone: original, value: '-0300'}", true},
	{"{type: date, part: time, zone: '+0100', value: '03:15:09'}", true},
	{"{type: date, part: year, compare: ge, value: '2026'}", true},
	{"{type: date, part: julian, value: '61100'}", true},
	{"{type: date, part: iso8601, compare: lt, value: '2026-03-01T02:15:10Z'}", true},
	{"{type: date, part: std11, match: contains, value: 'mar 2026'}", true},
	{"{type: date, header: Received, index: 1, part: second, value: '0'}", true},
	{"{type: date, header: Received, index: -1, part: second, value: '58'}", true},
	{"{type: date, header: X-Mark, part: year, compare: ge, value: '0'}", false},
	{"{type: date, part: minute, match: contains, value: '5'}", true},
	{"{type: date_count, compare: eq, value: '1'}", true},
	{"{type: date_count, header: Received, compare: gt, value: '1'}", true},
	{"{type: date_count, header: Received, compare: eq, value: '1', index: -2}", true},
	{"{type: date_count, header: X-Mark, compare: gt, value: '0'}", false},
	{"{type: received, part: hour, zone: Europe/Berlin, value: '10'}", true},
	{"{type: received, part: minute, match: regex, value: '^3'}", true},
	{"{type: now, part: date, value: '2026-03-01'}", true},
	{"{type: now, part: month, compare: gt, value: '3'}", false},
	{"{type: time_of_day, value: '22:00-10:00'}", true},
	{"{type: time_of_day, value: '22:00-10:00', zone: Europe/Berlin}", false},
	{"{type: time_of_day, values: ['00:00-01:00', '09:30-9:31']}", true},
	{"{type: weekday, values: [sat, Sun]}", true},
	{"{type: weekday, value: sun, zone: Pacific/Honolulu}", false},

	{"{type: category, value: primary}", true},
	{"{type: category, values: [social, promotions]}", false},
	{"{type: important}", true},
	{"{type: starred}", false},
	{"{type: unread}", false},
	{"{type: label_present, values: [STARRED, INBOX]}", true},
}

func TestMorePredicates(t *testing.T) {
	for _, test := range predicateCases {
		t.Run(test.condition, func(t *testing.T) {
			c := of(t, test.condition)
			require.Equal(t, test.want, rulestest.Matches(t, c, parcel()))
			_, found := rules.NewSet([]rules.Rule{rules.NewRule("r", c, postroom.Archive, nil)}, nil).First(parcel(), now)
			if c.Type != rules.SenderSeen {
				require.Equal(t, test.want, found, "the index finds what matches")
			}
		})
	}
}

// Every type is matched by some message of the tests and not by another.
func TestEveryPredicateIsTested(t *testing.T) {
	tested := map[rules.Kind]bool{}
	for _, test := range predicateCases {
		tested[of(t, test.condition).Type] = true
	}
	for _, kind := range rules.Kinds() {
		switch kind {
		case rules.To, rules.Cc, rules.SubjectContains, rules.SubjectRegex, rules.BodyContains, rules.BodyRegex,
			rules.HeaderMatch,
			rules.HeaderPresent, rules.HasAttachment, rules.LargerThan, rules.SmallerThan, rules.OlderThan, rules.NewerThan:
		case rules.IAnswered, rules.TheyAnswered, rules.SenderWrittenTo, rules.ThreadQuiet, rules.SinceIWrote:
			// these are in TestPredicatesAboutOtherMail
		case rules.Topic, rules.Priority, rules.HasActionItems, rules.HasEvent: // in TestPredicatesAboutTheMeaning
		default: // these are in TestPredicates
			require.True(t, tested[kind], kind)
		}
	}
}

func TestMoreOfWhatAMessageLacksMatchesNothing(t *testing.T) {
	for _, test := range predicateCases {
		c := of(t, test.condition)
		switch c.Type {
		// none is a number, or a result
		case rules.AddressCount, rules.RecipientCount, rules.HeaderCount, rules.DateCount, rules.AuthResult, rules.Now:
		default:
			require.False(t, rulestest.Matches(t, c, &postroom.Message{}), test.condition)
		}
	}
}

// The fields of a name are told apart where there are several.
func TestAddressesOfOneOfSeveralFields(t *testing.T) {
	msg := &postroom.Message{
		To: []postroom.Address{{Email: "a@a.example"}, {Email: "b@b.example"}, {Email: "c@c.example"}},
		Headers: []postroom.Header{
			{Name: "To", Value: "A <a@a.example>"}, {Name: "TO", Value: "b@b.example, C <c@c.example>"},
			{Name: "Resent-To", Value: "d@d.example"}, {Name: "Resent-To", Value: "e@e.example"},
			{Name: "Delivered-To", Value: "f@f.example"}, {Name: "Delivered-To", Value: "g@g.example"},
		},
	}
	for condition, want := range map[string]bool{
		"{type: address, fields: [to], value: a@a.example, index: 1}":                            true,
		"{type: address, fields: [to], value: a@a.example, index: 2}":                            false,
		"{type: address, fields: [to], value: c@c.example, index: -1}":                           true,
		"{type: address, fields: [to], value: b@b.example, index: -2}":                           false,
		"{type: address, fields: [to], part: name, value: c, index: 2}":                          true,
		"{type: address, fields: [resent_to], value: e@e.example, index: 2}":                     true,
		"{type: address, fields: [resent_to], value: d@d.example, index: 2}":                     false,
		"{type: address, fields: [resent_to, to], values: [x@x.example, e@e.example], index: 2}": true,
		"{type: address, fields: [envelope_to], value: g@g.example, index: 2}":                   false,
		"{type: address_count, fields: [to], compare: eq, value: '2', index: 2}":                 true,
		"{type: address_order, fields: [to], compare: ge, value: b, index: 1}":                   false,
		"{type: address_digits, fields: [to], compare: gt, value: '1', index: 3}":                false,
	} {
		require.Equal(t, want, rulestest.Matches(t, of(t, condition), msg), condition)
	}
}

func TestDigitsAreWrittenAlone(t *testing.T) {
	for _, value := range []string{"5.5", "-1", "many", " 5", "5 "} {
		for _, c := range []rules.Condition{
			{Type: rules.HeaderDigits, Header: "X", Compare: rules.Equal, Value: value},
			{Type: rules.AddressDigits, Fields: []string{"to"}, Compare: rules.Equal, Value: value},
		} {
			require.ErrorIs(t, c.Validate(), rules.ErrBadValue, "%s", c)
		}
	}
}

// What a sender claims about the authentication of the message is not believed.
func TestAuthenticationIsTheReceivingServers(t *testing.T) {
	pass := postroom.Header{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=bank.example"}
	received := postroom.Header{Name: "Received",
		Value: "from out.bank.example by mx.google.com with ESMTPS id y; Sun, 1 Mar 2026 01:29:58 -0800"}
	outside := postroom.Header{Name: "Received", Value: "from a by b.example; Sun, 1 Mar 2026 01:29:58 -0800"}
	from := postroom.Header{Name: "From", Value: `"Doe, Jane" <jane@bank.example>`}
	for name, test := range map[string]struct {
		headers []postroom.Header
		want    bool
	}{
		"the server's word":       {[]postroom.Header{received, pass, from}, true},
		"below another server":    {[]postroom.Header{outside, received, pass, from}, false},
		"without a server":        {[]postroom.Header{pass, from}, false},
		"a second From":           {[]postroom.Header{received, pass, from, {Name: "From", Value: "eve@evil.example"}}, false},
		"two addresses in From":   {[]postroom.Header{received, pass, {Name: "From", Value: "jane@bank.example, eve@evil.example"}}, false},
		"another address in From": {[]postroom.Header{received, pass, {Name: "From", Value: "eve@bank.example"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			msg := &postroom.Message{From: postroom.Address{Name: "Doe, Jane", Email: "jane@bank.example"},
				Headers: test.headers}
			require.Equal(t, test.want, rulestest.Matches(t, rules.Condition{Type: rules.Authenticated}, msg))
		})
	}
}

func TestSendersThatDeceive(t *testing.T) {
	bank := rules.Condition{Type: rules.SenderConfusable, Values: []string{"paypal.com", "micro.example",
		"bücher.example"}}
	mixed := rules.Condition{Type: rules.SenderConfusable}
	spoofed := rules.Condition{Type: rules.SenderSpoofed}
	for _, test := range []struct {
		c           rules.Condition
		name, email string
		want        bool
	}{
		{bank, "", "a@paypal.com", false},
		{bank, "", "a@mail.paypal.com", false},
		{bank, "", "a@paypa1.com", true},
		{bank, "", "a@PaypaI.com", true},
		{bank, "", "a@pаypal.com", true},
		{bank, "", "a@xn--pypal-4ve.com", true},
		{bank, "", "a@páypal.com", true},
		{bank, "", "a@rnicro.example", true},
		{bank, "", "a@xn--bcher-kva.example", false},
		{bank, "", "a@paypal.example", false},
		{mixed, "", "a@xn--pypal-4ve.com", true},
		{mixed, "РayРal Service", "a@b.example", true},
		{mixed, "Анна Smith", "a@b.example", false},
		{spoofed, "boss@bank.example", "eve@evil.example", true},
		{spoofed, "Boss (boss@mail.bank.example)", "eve@bank.example", false},
		{spoofed, "Boss @ Bank", "eve@evil.example", false},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			msg := &postroom.Message{From: postroom.Address{Name: test.name, Email: test.email}}
			require.Equal(t, test.want, rulestest.Matches(t, test.c, msg))
		})
	}
}

func TestHiddenTextAndBounces(t *testing.T) {
	msg := &postroom.Message{BodyHTML: "<p>Seen</p><p style='display:none'>not seen</p>"}
	require.True(t, rulestest.Matches(t, of(t, "{type: hidden_text}"), msg))
	require.True(t, rulestest.Matches(t, of(t, "{type: hidden_text, value: '7'}"), msg))
	require.False(t, rulestest.Matches(t, of(t, "{type: hidden_text, value: '8'}"), msg))

	msg = &postroom.Message{Headers: []postroom.Header{{Name: "Content-Type",
		Value: "multipart/report; report-type=delivery-status"}}}
	require.True(t, rulestest.Matches(t, of(t, "{type: bounce}"), msg))
	msg = &postroom.Message{Attachments: []postroom.Attachment{{ContentType: "message/delivery-status", Kind: "report"}}}
	require.True(t, rulestest.Matches(t, of(t, "{type: bounce}"), msg))

	words := "one two three four five six seven eight nine ten eleven twelve "
	msg = &postroom.Message{BodyPlain: words,
		BodyHTML: "<p>eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"}
	require.True(t, rulestest.Matches(t, of(t, "{type: parts_disagree}"), msg))
}

// A message of which parts were not read is known to rules.
func TestIncomplete(t *testing.T) {
	raw := "From: ada@example.com\nContent-Type: multipart/mixed; boundary=b\n\n" +
		strings.Repeat("--b\nContent-Type: application/pdf\n\n", 20) + "--b\n\nThe text.\n--b--\n"
	parsed, err := mime.ParseBytes([]byte(raw), &mime.Limits{Parts: 20})
	require.NoError(t, err)
	msg := rules.MessageOf(parsed)
	require.Empty(t, msg.BodyPlain)
	require.True(t, rulestest.Matches(t, of(t, "{type: incomplete}"), msg))
	require.True(t, rulestest.Matches(t, of(t, "{type: has_attachment}"), msg))
}
