package sample

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// School is the address of the letters of [WithSchool].
const School = "newsletter@lindenhof.example"

// schoolSubjects are those of the letters, the oldest first.
var schoolSubjects = []string{"What class 4b has built", "The bus leaves earlier", "Gym shoes, please",
	"Thank you for the cakes", "A visit to the lock keeper", "What we read this month"}

// WithSchool returns the mailbox of [WithLists] with the weekly letters of a school, which no list's header field marks
// and the last of which came on the day before, and with an invitation in plain text to a day that is far ahead. The
// letters are dated, since programs that learn look at recent mail alone.
func WithSchool(day time.Time) mailbox.Source {
	return withSchool{day: day.UTC().Truncate(24 * time.Hour)}
}

type withSchool struct {
	source

	day time.Time
}

// Messages implements [mailbox.Source].
func (s withSchool) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		all := append(s.letters(), capsule())
		for msg, err := range WithLists().Messages() {
			if err != nil {
				yield(mailbox.Message{}, err)
				return
			}
			all = append(all, msg)
		}
		inOrder(all, yield)
	}
}

// inOrder yields messages in the order of arrival.
func inOrder(all []mailbox.Message, yield func(mailbox.Message, error) bool) {
	slices.SortStableFunc(all, func(a, b mailbox.Message) int { return a.Received.Compare(b.Received) })
	for i, msg := range all {
		msg.Position = i + 1
		if !yield(msg, nil) {
			return
		}
	}
}

func (s withSchool) letters() (all []mailbox.Message) {
	for i, subject := range schoolSubjects {
		weeks := len(schoolSubjects) - 1 - i
		received := s.day.AddDate(0, 0, -1-7*weeks).Add(7 * time.Hour)
		all = append(all, unread(fmt.Sprintf("school-%d.eml", i+1), received, fmt.Appendf(nil, schoolLetter, School, Owner,
			received.Format(time.RFC1123Z), subject, i+1)))
	}
	return all
}

func unread(name string, received time.Time, raw []byte) mailbox.Message {
	return mailbox.Message{Name: name, Raw: raw, Labels: []string{"INBOX", "UNREAD"}, Labeled: true, Received: received}
}

const schoolLetter = `Received: from mail.lindenhof.example by mx.google.com with ESMTPS id x; %[3]s
Authentication-Results: mx.google.com; dkim=pass header.i=@lindenhof.example; dmarc=pass header.from=lindenhof.example
From: Lindenhof School <%[1]s>
To: Robin Vale <%[2]s>
Subject: %[4]s
Date: %[3]s
Message-ID: <letter-%[5]d@lindenhof.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Dear parents,

%[4]s: all about it is on the board beside the door.

Lindenhof School
`

func capsule() mailbox.Message {
	received := at(time.February, 27, 9, 40)
	return unread("capsule.eml", received, fmt.Appendf(nil, capsuleLetter, Owner, received.Format(time.RFC1123Z)))
}

const capsuleLetter = `From: Nadia Okoro <nadia@okoro.example>
To: Robin Vale <%[1]s>
Subject: The time capsule
Date: %[2]s
Message-ID: <capsule@okoro.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Robin,

the tin is below the lime tree behind the boathouse. We open it on Saturday, 12 May 2040, at 11:00, all of us who are
still around, from eleven to one. Write it into your calendar now, and keep the map.

Nadia
`
