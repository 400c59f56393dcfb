package gmail

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/queue"
)

// search returns Gmail's ids of all that a search finds, page by page.
func (w *world) search(s mailindex.Search) (ids []string) {
	w.t.Helper()
	for {
		page, err := w.store.Search(w.t.Context(), w.account, s)
		require.NoError(w.t, err)
		for _, m := range page.Messages {
			ids = append(ids, m.ProviderID)
		}
		if s.Cursor = page.Next; s.Cursor == "" {
			return ids
		}
	}
}

// searchable fills the mailbox and the store.
func (w *world) searchable() {
	w.t.Helper()
	bills := w.userLabel("Bills/Old stuff")
	mail := func(from, to, subject, more string) string {
		return fmt.Sprintf("From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n%s\r\n", from, to, subject,
			time.Now().Format(time.RFC1123Z), more)
	}
	w.arrive(mail("Zoë <zoe@example.org>", "me@example.com", "Grüße aus Köln", "\r\nGood day, the invoice is attached."),
		"INBOX", "UNREAD")
	w.arrive(mail("Ann <ann@shop.example.com>", "me@example.com, Bob <bob@example.net>", "Your invoice 17",
		"Cc: carl@example.net\r\nList-Id: <news.shop.example.com>\r\n\r\nPay soon"), "INBOX", bills)
	w.arrive(mail("ann@example.org", "you@example.com", "Holiday", "\r\nhttps://youtu.be/x invoice day good"),
		"STARRED", "SENT")
	w.arrive(richMail, "INBOX", "STARRED", bills)
	w.arrive(mail("spam@example.org", "me@example.com", "invoice invoice", "\r\nbuy"), "SPAM")
	w.arrive(mail("old@example.org", "me@example.com", "in the bin", "\r\ninvoice"), "TRASH")
	w.arrive(mail("html@example.org", "me@example.com", "Page",
		"Content-Type: text/html\r\n\r\n<p>Good <b>day</b>, invoice</p>"), "IMPORTANT")
	for _, name := range []string{"", "; name=invite.ics"} { // has:attachment finds the one with a name
		w.arrive(mail("invites@example.org", "me@example.com", "Invitation",
			"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntea\r\n--b\r\nContent-Type: text/calendar"+name+
				"\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--"), "INBOX")
	}
	w.arriveOld("INBOX")
	w.cfg.SpamAndTrash = true
	w.run(NewBackfillJob(w.account, "", ""), NewLabelsSyncJob(w.account))
}

// What the store finds is what Gmail finds, in its order, on every database.
func TestSearchFindsWhatGmailFinds(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.searchable()
		for _, q := range []string{
			"", "invoice", "from:ann", "from:ann@example.org", "from:zoe", "from:example.org", "to:bob", "cc:carl", "subject:invoice",
			`"good day"`, `"day good"`, "grusse", "subject:(grüße köln)", "in:inbox", "-in:inbox", "is:unread", "is:read", "is:starred",
			"label:bills-old-stuff", "-label:bills-old-stuff", "label:unknown", "has:userlabels", "has:nouserlabels", "has:attachment",
			"-has:attachment", "filename:pdf", "filename:bill.pdf", "has:youtube", "larger:300", "smaller:300", "older_than:1y",
			"newer_than:2d", "after:2012/01/01", "before:2012/01/01", "in:spam", "in:trash", "in:anywhere invoice", "list:news.shop.example.com",
			"rfc822msgid:2@example.org", "from:ann invoice", "from:ann OR from:zoe", "{from:ann from:zoe} -invoice", "invoice -from:ann -is:unread",
			"good AROUND 3 invoice", "is:important", "from:nobody", "in:inbox -is:starred has:nouserlabels",
		} {
			for _, hidden := range []bool{false, true} {
				answer, err := w.google.Users.Messages.List("me").Q(q).IncludeSpamTrash(hidden).Do()
				require.NoError(t, err)
				var want []string
				for _, m := range answer.Messages {
					want = append(want, m.Id)
				}
				got := w.search(mailindex.Search{Query: q, SpamAndTrash: hidden})
				require.ElementsMatch(t, want, got, "%q, spam and trash %t", q, hidden)
				require.Equal(t, got, w.search(mailindex.Search{Query: q, SpamAndTrash: hidden, Limit: 1}), "%q page by page", q)
			}
		}
	})
}

// A history sync that finds many messages without index sees to them.
func TestASyncEnqueuesTheIndexing(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.arrive("From: ann@example.com\r\nSubject: hello\r\n\r\nneedle\r\n", "INBOX")
		w.run(NewBackfillJob(w.account, "", ""))
		require.Empty(t, w.jobs("index.gmail"))
		for i := range 512 {
			w.exec("INSERT INTO unindexed_messages (account_id, message_id, received) VALUES ($1, $2, 0)", w.account,
				fmt.Sprintf("gone%d", i))
		}
		w.run(NewHistorySyncJob(w.account, 0))
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, w.jobs("index.gmail"))
		require.Zero(t, count(t, w.store, "unindexed_messages"))
		require.Len(t, w.search(mailindex.Search{Query: "needle in:inbox"}), 1)
		w.run(NewIndexJob(w.account), NewHistorySyncJob(w.account, 0))
	})
}
