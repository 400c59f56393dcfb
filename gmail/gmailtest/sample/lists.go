package sample

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// A list is a mailing list that its reader has lost interest in: a letter a week, hardly one of them read.
type list struct {
	name, domain string
	leave        string   // List-Unsubscribe
	oneClick     bool     // RFC 8058
	labels       string   // of the letters, besides UNREAD
	first        int      // the day of January on which the first came
	read         int      // how many of the first letters were read
	subjects     []string // of the letters
}

var lists = []list{
	{"Velvet Outlet", "velvet-outlet.example", "<https://velvet-outlet.example/leave/7c1>", true,
		"INBOX CATEGORY_PROMOTIONS", 12, 0, []string{"Last chance: 40% off rugs", "Only today: 25% off lamps",
			"Last chance: 15% off what is new", "Only today: no shipping", "Last chance: the winter sale ends tonight"}},
	{"Trailhead Weekly", "trailhead.example", "<https://trailhead.example/leave?s=58>", true, "INBOX", 7, 1,
		[]string{"Five walks in the snow", "Boots, compared", "The ridge above Lenna", "A hut for the night",
			"What to do in the fog", "Six walks before spring"}},
	{"Kettle & Crumb", "kettle-crumb.example", "<mailto:leave@kettle-crumb.example?subject=leave%20letters>", false,
		"INBOX", 14, 0, []string{"The tea of January", "Bread without haste", "A letter from the bakery",
			"The tea of February", "Our ovens, and a farewell"}},
}

// WithLists returns the sample with the letters of some mailing lists that are hardly read, in the order of arrival.
// Gmail has verified that their senders signed how to leave them.
func WithLists() mailbox.Source { return withLists{} }

type withLists struct{ source }

// Messages implements [mailbox.Source].
func (withLists) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		all := letters()
		for msg, err := range Mailbox().Messages() {
			if err != nil {
				yield(mailbox.Message{}, err)
				return
			}
			all = append(all, msg)
		}
		inOrder(all, yield)
	}
}

func letters() (all []mailbox.Message) {
	for _, l := range lists {
		for i := range l.subjects {
			labels := strings.Fields(l.labels)
			if i >= l.read {
				labels = append(labels, "UNREAD")
			}
			all = append(all, mailbox.Message{Name: fmt.Sprintf("%s-%d.eml", l.domain, i+1), Raw: l.letter(i),
				Labels: labels, Labeled: true, Received: l.at(i)})
		}
	}
	return all
}

func (l *list) at(i int) time.Time { return at(time.January, l.first, 6, 15).AddDate(0, 0, 7*i) }

// letter returns a letter as Gmail has received it: with its own word on the signature.
func (l *list) letter(i int) []byte {
	covered, click := "from:list-unsubscribe", ""
	if l.oneClick {
		covered += ":list-unsubscribe-post"
		click = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n"
	}
	return fmt.Appendf(nil, `Received: from mail.%[1]s by mx.google.com with ESMTPS id x; %[2]s
Authentication-Results: mx.google.com; dkim=pass header.i=@%[1]s header.s=s header.b=AbCd; dmarc=pass header.from=%[1]s
DKIM-Signature: v=1; a=rsa-sha256; d=%[1]s; s=s; h=%[3]s; b=AbCdEf
From: %[4]s <letters@%[1]s>
To: Robin Vale <%[5]s>
Subject: %[6]s
Date: %[2]s
Message-ID: <letter-%[7]d@%[1]s>
List-Id: %[4]s <letters.%[1]s>
List-Unsubscribe: %[8]s
%[9]sMIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

%[6]s.

You get this letter because you have once asked for it.

%[4]s
`, l.domain, l.at(i).Format(time.RFC1123Z), covered, l.name, Owner, l.subjects[i], i+1, l.leave, click)
}
