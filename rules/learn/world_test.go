package learn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// mail is a message of a sender, whose domain Gmail has verified.
func mail(id, from, subject string, at time.Time, headers ...postroom.Header) *postroom.Message {
	return &postroom.Message{ID: id, ThreadID: "thread of " + id, From: postroom.Address{Email: from}, Subject: subject,
		ReceivedAt: at, Headers: append(verified(from), headers...)}
}

func verified(from string) []postroom.Header {
	_, domain, _ := strings.Cut(from, "@")
	return []postroom.Header{
		{Name: "Received", Value: "from x by mx.google.com with ESMTPS id x; Sat, 07 Mar 2026 12:00:00 +0000"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=" + domain},
		{Name: "From", Value: from}}
}

// unverified takes the results of the authentication off.
func unverified(msg *postroom.Message) *postroom.Message {
	msg.Headers = slices.Delete(msg.Headers, 1, 2)
	return msg
}

func voted(msg *postroom.Message, act Act) Fact {
	f := FactOf(msg)
	f.Vote = act
	return f
}

func move(label string) Act { return Act{postroom.Move, "Label_" + label} }

// A sender is one of those that write to the simulated person, who sorts some of the mail.
type sender struct {
	from    string
	subject string // with %d for a number
	listID  string
	act     Act
	// withFile is what the person wants if a PDF is attached, as it is to half of the mail; nil for as always.
	withFile *Act
	// changing addresses: the local part is another one each time
	changing bool
}

// senders are sixty.
func senders() (list []sender) {
	for i := range 24 {
		s := sender{from: fmt.Sprintf("news@shop%d.example", i), subject: "Offers of week %d",
			act: move(strconv.Itoa(i % 6))}
		if i%2 == 0 {
			s.listID = fmt.Sprintf("news.shop%d.example", i)
		}
		list = append(list, s)
	}
	for i := range 8 {
		list = append(list, sender{from: fmt.Sprintf("alerts@watch%d.example", i), subject: "Check %d has ended",
			act: Act{Action: postroom.Archive}})
	}
	receipts := move("Receipts")
	for i := range 8 {
		list = append(list, sender{from: fmt.Sprintf("billing@firm%d.example", i), subject: "Order %d", withFile: &receipts})
	}
	for i := range 4 {
		list = append(list, sender{from: fmt.Sprintf("@desk%d.example", i), subject: "Ticket %d was updated",
			act: move("Tickets"), changing: true})
	}
	for i := range 16 {
		list = append(list, sender{from: fmt.Sprintf("friend%d@home%d.example", i, i), subject: "Dinner %d?"})
	}
	return list
}

// A person gets mail and knows what each is worth.
type person struct {
	rng     *rand.Rand
	senders []sender
	at      time.Time
	n       int
}

func newPerson(seed uint64) *person {
	return &person{rng: rand.New(rand.NewPCG(seed, 26)), senders: senders(),
		at: time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC)}
}

// next is the next message, and what the person wants.
func (p *person) next() (*postroom.Message, Act) {
	p.n++
	p.at = p.at.Add(time.Duration(p.rng.IntN(240)) * time.Minute)
	s := p.senders[p.rng.IntN(len(p.senders))]
	from := s.from
	if s.changing {
		from = fmt.Sprintf("ticket%d%s", p.n, s.from)
	}
	headers := []postroom.Header{{Name: "X-Mailer", Value: fmt.Sprintf("mailer %d", p.rng.IntN(4))},
		{Name: "X-Campaign", Value: strconv.Itoa(p.rng.IntN(9))}}
	if s.listID != "" {
		headers = append(headers, postroom.Header{Name: "List-Id", Value: "<" + s.listID + ">"})
	}
	msg := mail(fmt.Sprintf("m%05d", p.n), from, fmt.Sprintf(s.subject, p.rng.IntN(100_000)), p.at, headers...)
	act := s.act
	if p.rng.IntN(2) == 0 && s.withFile != nil {
		msg.Attachments = []postroom.Attachment{{Filename: "invoice.pdf", ContentType: "application/pdf"}}
		act = *s.withFile
	}
	return msg, act
}

// slip is what the person does: three times in a hundred something else.
func (p *person) slip(act Act) Act {
	if p.rng.IntN(100) >= 3 {
		return act
	}
	return []Act{{}, move("0"), move("Receipts"), {Action: postroom.Archive}}[p.rng.IntN(4)]
}
