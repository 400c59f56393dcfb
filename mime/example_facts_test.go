package mime_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
)

func parse(raw string) *mime.Message {
	m, err := mime.Parse(strings.NewReader(raw), nil)
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleHeader_Automatic() {
	m := parse("From: Ada <ada@example.com>\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away.")
	if signs := m.Header.Automatic(); len(signs) > 0 {
		fmt.Println("no reply:", signs[0])
	}
	// Output: no reply: auto_reply: Auto-Submitted: auto-replied
}

func ExampleHeader_List() {
	m := parse("From: news@shop.example\nList-Unsubscribe: <mailto:leave@shop.example>, <https://shop.example/u?id=1>\n" +
		"List-Unsubscribe-Post: List-Unsubscribe=One-Click\n\nSocks.")
	u := m.Header.List().Unsubscribe
	fmt.Println("POST to", u.OneClick)
	fmt.Println("or write to", u.Mail[0].To[0])
	// Output:
	// POST to https://shop.example/u?id=1
	// or write to leave@shop.example
}

func Example_bounce() {
	m := parse("From: MAILER-DAEMON@mx.example.org\nSubject: failure notice\n\n" +
		"Hi. This is the qmail-send program at mx.example.org.\n\n" +
		"<bob@example.net>:\n550 5.1.1 no such user here\n\n" +
		"--- Below this line is a copy of the message.\n\nMessage-ID: <lunch@example.com>\n")
	if b := bounce.Read(m); b != nil {
		r := b.Recipients[0]
		fmt.Println(b.OriginalMessageID, r.Address(), r.Action, r.Reason, r.Hard())
	}
	// Output: lunch@example.com bob@example.net failed no_such_user true
}
