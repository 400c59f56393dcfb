package gmailtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// deliver puts a message into the mailbox of the owner, and returns its labels.
func deliver(t *testing.T, server *gmailtest.Server, raw string) []string {
	t.Helper()
	message, err := mustAccount(t, server).Deliver(t.Context(), []byte(raw))
	require.NoError(t, err)
	return message.Labels
}

func TestFilters(t *testing.T) {
	server, users := serve(t, nil)
	filters := users.Settings.Filters
	require.NoError(t, server.CreateLabels(t.Context(), "Bills"))
	list, err := users.Labels.List("me").Do()
	require.NoError(t, err)
	bills := list.Labels[len(list.Labels)-1].Id

	first, err := filters.Create("me", &gmail.Filter{
		Criteria: &gmail.FilterCriteria{From: "shop@example.com", Subject: "invoice", NegatedQuery: "draft"},
		Action:   &gmail.FilterAction{AddLabelIds: []string{bills}, RemoveLabelIds: []string{"INBOX", "UNREAD"}},
	}).Do()
	require.NoError(t, err)
	_, err = filters.Create("me", &gmail.Filter{
		Criteria: &gmail.FilterCriteria{Size: 1000, SizeComparison: "larger"},
		Action:   &gmail.FilterAction{AddLabelIds: []string{"STARRED"}},
	}).Do()
	require.NoError(t, err)
	all, err := filters.List("me").Do()
	require.NoError(t, err)
	require.Len(t, all.Filter, 2)
	got, err := filters.Get("me", first.Id).Do()
	require.NoError(t, err)
	require.Equal(t, first.Criteria, got.Criteria)

	require.Equal(t, []string{"Bills"},
		deliver(t, server, "From: Shop <shop@example.com>\nSubject: Your invoice\n\nPay.\n"))
	require.Equal(t, []string{"INBOX", "UNREAD"},
		deliver(t, server, "From: shop@example.com\nSubject: invoice (draft)\n\nPay.\n"))
	require.Equal(t, []string{"INBOX", "UNREAD"}, deliver(t, server, "From: ann@example.com\nSubject: invoice\n\nPay.\n"))
	require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, deliver(t, server, "From: ann@example.com\n\n"+large))

	require.NoError(t, filters.Delete("me", first.Id).Do())
	require.Equal(t, []string{"INBOX", "UNREAD"}, deliver(t, server, "From: shop@example.com\nSubject: invoice\n\nPay.\n"))
	requireAPIError(t, filters.Delete("me", first.Id).Do(), 404, "notFound")
	_, err = filters.Get("me", first.Id).Do()
	requireAPIError(t, err, 404, "notFound")
}

func TestFiltersThatAreRefused(t *testing.T) {
	_, users := serve(t, nil)
	star := &gmail.FilterAction{AddLabelIds: []string{"STARRED"}}
	for message, f := range map[string]*gmail.Filter{
		"any criteria":                     {Action: star},
		"any actions":                      {Criteria: &gmail.FilterCriteria{From: "a@example.com"}},
		"Invalid label: Label_9":           {Criteria: &gmail.FilterCriteria{From: "a@example.com"}, Action: &gmail.FilterAction{AddLabelIds: []string{"Label_9"}}},
		"Unrecognized forwarding address:": {Criteria: &gmail.FilterCriteria{HasAttachment: true}, Action: &gmail.FilterAction{Forward: "b@example.com"}},
	} {
		_, err := users.Settings.Filters.Create("me", f).Do()
		require.ErrorContains(t, err, message)
	}
	f := &gmail.Filter{Criteria: &gmail.FilterCriteria{Query: "list:news.example.com"}, Action: star}
	_, err := users.Settings.Filters.Create("me", f).Do()
	require.NoError(t, err)
	_, err = users.Settings.Filters.Create("me", f).Do()
	require.Contains(t, requireAPIError(t, err, 400, "failedPrecondition").Message, "Filter already exists")
}

func TestForwarding(t *testing.T) {
	server, users := serve(t, nil)
	ann, err := server.Account(t.Context(), "ann@example.com")
	require.NoError(t, err)
	addresses := users.Settings.ForwardingAddresses
	created, err := addresses.Create("me", &gmail.ForwardingAddress{ForwardingEmail: "ann@example.com"}).Do()
	require.NoError(t, err)
	require.Equal(t, "pending", created.VerificationStatus)
	_, err = addresses.Create("me", &gmail.ForwardingAddress{ForwardingEmail: "Ann@example.com"}).Do()
	requireAPIError(t, err, 409, "alreadyExists")
	_, err = addresses.Create("me", &gmail.ForwardingAddress{ForwardingEmail: "nobody"}).Do()
	requireAPIError(t, err, 400, "invalidArgument")

	forward := &gmail.Filter{Criteria: &gmail.FilterCriteria{Subject: "news"},
		Action: &gmail.FilterAction{Forward: "ann@example.com"}}
	_, err = users.Settings.Filters.Create("me", forward).Do()
	requireAPIError(t, err, 403, "forbidden")
	require.NoError(t, server.Person().Accept(t.Context(), "ann@example.com"))
	require.ErrorContains(t, server.Person().Accept(t.Context(), "ann@example.com"), "nothing waits")
	_, err = users.Settings.Filters.Create("me", forward).Do()
	require.NoError(t, err)

	// Ann forwards it back, which ends there.
	service, err := ann.Service(t.Context())
	require.NoError(t, err)
	back := service.Users.Settings
	_, err = back.ForwardingAddresses.Create("me", &gmail.ForwardingAddress{ForwardingEmail: server.Email()}).Do()
	require.NoError(t, err)
	require.NoError(t, ann.Person().Accept(t.Context(), server.Email()))
	_, err = back.Filters.Create("me",
		&gmail.Filter{Criteria: forward.Criteria, Action: &gmail.FilterAction{Forward: server.Email()}}).Do()
	require.NoError(t, err)
	deliver(t, server, "From: b@example.com\nSubject: news\nMessage-ID: <n@example.com>\n\nHello.\n")
	for _, account := range []*gmailtest.Account{ann, mustAccount(t, server)} {
		count, err := account.Count(t.Context())
		require.NoError(t, err)
		require.Positive(t, count)
		require.LessOrEqual(t, count, 2)
	}

	list, err := addresses.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.ForwardingAddresses, 1)
	got, err := addresses.Get("me", "ann@example.com").Do()
	require.NoError(t, err)
	require.Equal(t, "accepted", got.VerificationStatus)
	require.NoError(t, addresses.Delete("me", "ann@example.com").Do())
	_, err = addresses.Get("me", "ann@example.com").Do()
	requireAPIError(t, err, 404, "notFound")
}

func TestSendAs(t *testing.T) {
	server, users := serve(t, nil)
	sendAs := users.Settings.SendAs
	_, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: server.Email()}).Do()
	requireAPIError(t, err, 409, "alreadyExists")
	_, err = sendAs.Create("me", &gmail.SendAs{SendAsEmail: "x@elsewhere.example",
		SmtpMsa: &gmail.SmtpMsa{Username: "x"}}).Do()
	requireAPIError(t, err, 400, "invalidArgument")
	alias, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: "sales@elsewhere.example", DisplayName: "Sales",
		IsDefault: true}).Do()
	require.NoError(t, err)
	require.Equal(t, "pending", alias.VerificationStatus)
	same, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: "team@example.com"}).Do()
	require.NoError(t, err)
	require.Equal(t, "accepted", same.VerificationStatus, "of the account's own domain")

	from := func() string {
		sent, err := users.Messages.Send("me",
			&gmail.Message{Raw: encoded("From: sales@elsewhere.example\nTo: a@example.com\n\nHi\n")}).Do()
		require.NoError(t, err)
		message, err := users.Messages.Get("me", sent.Id).Format("metadata").MetadataHeaders("From").Do()
		require.NoError(t, err)
		return message.Payload.Headers[0].Value
	}
	require.Contains(t, from(), server.Email(), "it has not agreed")
	require.NoError(t, sendAs.Verify("me", alias.SendAsEmail).Do())
	require.NoError(t, server.Person().Accept(t.Context(), alias.SendAsEmail))
	require.Equal(t, "sales@elsewhere.example", from())
	requireAPIError(t, sendAs.Verify("me", alias.SendAsEmail).Do(), 400, "invalidArgument")

	list, err := sendAs.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.SendAs, 3)
	require.True(t, list.SendAs[0].IsPrimary)
	require.False(t, list.SendAs[0].IsDefault, "another has become it")

	patched, err := sendAs.Patch("me", alias.SendAsEmail, &gmail.SendAs{Signature: "<b>S</b>"}).Do()
	require.NoError(t, err)
	require.Equal(t, "Sales", patched.DisplayName)
	updated, err := sendAs.Update("me", server.Email(), &gmail.SendAs{ReplyToAddress: "r@example.com",
		IsDefault: true}).Do()
	require.NoError(t, err)
	require.Equal(t, "r@example.com", updated.ReplyToAddress)
	got, err := sendAs.Get("me", alias.SendAsEmail).Do()
	require.NoError(t, err)
	require.False(t, got.IsDefault)
	require.Equal(t, "<b>S</b>", got.Signature)

	requireAPIError(t, sendAs.Delete("me", server.Email()).Do(), 400, "invalidArgument")
	require.NoError(t, sendAs.Delete("me", alias.SendAsEmail).Do())
	_, err = sendAs.Get("me", alias.SendAsEmail).Do()
	requireAPIError(t, err, 404, "notFound")
	_, err = sendAs.Patch("me", "nobody@example.com", &gmail.SendAs{}).Do()
	requireAPIError(t, err, 404, "notFound")
}

func TestDelegates(t *testing.T) {
	server, users := serve(t, nil)
	delegates := users.Settings.Delegates
	_, err := delegates.Create("me", &gmail.Delegate{DelegateEmail: "ann@example.com"}).Do()
	require.NoError(t, err)
	require.NoError(t, server.Person().Accept(t.Context(), "ann@example.com"))
	list, err := delegates.List("me").Do()
	require.NoError(t, err)
	require.Equal(t, "accepted", list.Delegates[0].VerificationStatus)
	got, err := delegates.Get("me", "ann@example.com").Do()
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", got.DelegateEmail)
	require.NoError(t, delegates.Delete("me", "ann@example.com").Do())
	requireAPIError(t, delegates.Delete("me", "ann@example.com").Do(), 404, "notFound")
}

func TestSettingsThatThereIsOneOf(t *testing.T) {
	_, users := serve(t, nil)
	s := users.Settings
	for name, test := range map[string]func() (before, after, refused error){
		"vacation": func() (before, after, refused error) {
			got, before := s.GetVacation("me").Do()
			require.False(t, got.EnableAutoReply)
			set, after := s.UpdateVacation("me", &gmail.VacationSettings{EnableAutoReply: true, ResponseSubject: "Away",
				StartTime: 1, EndTime: 2}).Do()
			got, err := s.GetVacation("me").Do()
			require.NoError(t, err)
			require.Equal(t, set.ResponseSubject, got.ResponseSubject)
			_, err = s.UpdateVacation("me", &gmail.VacationSettings{StartTime: 2, EndTime: 1}).Do()
			requireAPIError(t, err, 400, "invalidArgument")
			_, refused = s.UpdateVacation("me", &gmail.VacationSettings{EnableAutoReply: true}).Do()
			return before, after, refused
		},
		"imap": func() (before, after, refused error) {
			got, before := s.GetImap("me").Do()
			require.True(t, got.Enabled)
			_, after = s.UpdateImap("me", &gmail.ImapSettings{Enabled: true, ExpungeBehavior: "trash", MaxFolderSize: 1000}).Do()
			got, err := s.GetImap("me").Do()
			require.NoError(t, err)
			require.Equal(t, "trash", got.ExpungeBehavior)
			_, refused = s.UpdateImap("me", &gmail.ImapSettings{MaxFolderSize: 7}).Do()
			return before, after, refused
		},
		"pop": func() (before, after, refused error) {
			got, before := s.GetPop("me").Do()
			require.Equal(t, "disabled", got.AccessWindow)
			_, after = s.UpdatePop("me", &gmail.PopSettings{AccessWindow: "allMail"}).Do()
			_, refused = s.UpdatePop("me", &gmail.PopSettings{AccessWindow: "sometimes"}).Do()
			return before, after, refused
		},
		"language": func() (before, after, refused error) {
			got, before := s.GetLanguage("me").Do()
			require.Equal(t, "en", got.DisplayLanguage)
			set, after := s.UpdateLanguage("me", &gmail.LanguageSettings{DisplayLanguage: "DE-at"}).Do()
			require.Equal(t, "de-AT", set.DisplayLanguage)
			_, refused = s.UpdateLanguage("me", &gmail.LanguageSettings{DisplayLanguage: "?"}).Do()
			return before, after, refused
		},
		"forwarding": func() (before, after, refused error) {
			got, before := s.GetAutoForwarding("me").Do()
			require.False(t, got.Enabled)
			_, after = s.UpdateAutoForwarding("me", &gmail.AutoForwarding{Disposition: "archive"}).Do()
			_, err := s.UpdateAutoForwarding("me", &gmail.AutoForwarding{Enabled: true, EmailAddress: "x@example.com"}).Do()
			requireAPIError(t, err, 403, "forbidden")
			_, refused = s.UpdateAutoForwarding("me", &gmail.AutoForwarding{Disposition: "burn"}).Do()
			return before, after, refused
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after, refused := test()
			require.NoError(t, before)
			require.NoError(t, after)
			requireAPIError(t, refused, 400, "invalidArgument")
		})
	}
}

// All criteria of a filter count, and a label that is gone is put on nothing: the filter is gone with its last action.
func TestFiltersInFull(t *testing.T) {
	server, users := serve(t, nil)
	filters := users.Settings.Filters
	_, err := filters.Create("me", &gmail.Filter{
		Criteria: &gmail.FilterCriteria{To: "team@example.com", Query: "tea", SizeComparison: "smaller", Size: 200},
		Action:   &gmail.FilterAction{AddLabelIds: []string{"STARRED"}},
	}).Do()
	require.NoError(t, err)
	starred := []string{"INBOX", "STARRED", "UNREAD"}
	require.Equal(t, starred, deliver(t, server, "To: team@example.com\n\nTea?\n"))
	require.Equal(t, []string{"INBOX", "UNREAD"}, deliver(t, server, "To: ann@example.com\n\nTea?\n"))
	require.Equal(t, []string{"INBOX", "UNREAD"}, deliver(t, server, "To: team@example.com\n\nCoffee?\n"))
	require.Equal(t, []string{"INBOX", "UNREAD"},
		deliver(t, server, "To: team@example.com\n\nTea? "+strings.Repeat("x", 200)+"\n"))

	bills, err := users.Labels.Create("me", &gmail.Label{Name: "Bills"}).Do()
	require.NoError(t, err)
	for _, action := range []*gmail.FilterAction{
		{AddLabelIds: []string{bills.Id}},
		{AddLabelIds: []string{bills.Id}, RemoveLabelIds: []string{"UNREAD"}},
	} {
		_, err = filters.Create("me", &gmail.Filter{Criteria: &gmail.FilterCriteria{Subject: "invoice"}, Action: action}).Do()
		require.NoError(t, err)
	}
	require.Equal(t, []string{"Bills", "INBOX"}, deliver(t, server, "Subject: invoice\n\n"))
	require.NoError(t, users.Labels.Delete("me", bills.Id).Do())
	require.Equal(t, []string{"INBOX"}, deliver(t, server, "Subject: invoice\n\n"))
	list, err := filters.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Filter, 2)
	for _, filter := range list.Filter {
		require.NotContains(t, filter.Action.AddLabelIds, bills.Id)
	}
}

// What an address is sent through is checked, and its password is never shown; what a patch does not have stays, and
// an update empties it.
func TestSendAsThroughAnotherServer(t *testing.T) {
	_, users := serve(t, nil)
	sendAs := users.Settings.SendAs
	for _, server := range []*gmail.SmtpMsa{{Port: 587}, {Host: "smtp.example.com"},
		{Host: "smtp.example.com", Port: -1}} {
		_, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: "sales@example.com", SmtpMsa: server}).Do()
		requireAPIError(t, err, 400, "invalidArgument")
	}
	_, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: "sales@example.com", TreatAsAlias: true,
		SmtpMsa: &gmail.SmtpMsa{
			Host: "smtp.example.com", Port: 587, Username: "sales", Password: "secret",
		}}).Do()
	require.NoError(t, err)
	got, err := sendAs.Get("me", "sales@example.com").Do()
	require.NoError(t, err)
	require.Equal(t, "pending", got.VerificationStatus, "of its own domain, and through a server of its own")
	require.Equal(t, "smtp.example.com", got.SmtpMsa.Host)
	require.Empty(t, got.SmtpMsa.Username+got.SmtpMsa.Password)
	require.True(t, got.TreatAsAlias)
	got, err = sendAs.Patch("me", "sales@example.com", &gmail.SendAs{DisplayName: "Sales"}).Do()
	require.NoError(t, err)
	require.True(t, got.TreatAsAlias)
	got, err = sendAs.Patch("me", "sales@example.com", &gmail.SendAs{ForceSendFields: []string{"TreatAsAlias"}}).Do()
	require.NoError(t, err)
	require.False(t, got.TreatAsAlias)
	require.Equal(t, "Sales", got.DisplayName)
	got, err = sendAs.Update("me", "sales@example.com", &gmail.SendAs{TreatAsAlias: true}).Do()
	require.NoError(t, err)
	require.True(t, got.TreatAsAlias)
	got, err = sendAs.Update("me", "sales@example.com", &gmail.SendAs{}).Do()
	require.NoError(t, err)
	require.False(t, got.TreatAsAlias)
	require.Empty(t, got.DisplayName)
}
