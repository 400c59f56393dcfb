package mime_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

func ExampleParse() {
	raw := "From: =?utf-8?q?J=C3=BCrgen?= <juergen@example.com>\r\n" +
		"Subject: The rates\r\n" +
		"Content-Type: multipart/mixed; boundary=b\r\n" +
		"\r\n" +
		"--b\r\n" +
		"Content-Type: text/html; charset=iso-8859-1\r\n" +
		"\r\n" +
		"<p>The rates, in \xa3.</p>\r\n" +
		"--b\r\n" +
		"Content-Type: text/csv; name=rates.csv\r\n" +
		"\r\n" +
		"1,2"
	m, err := mime.Parse(strings.NewReader(raw), nil)
	if err != nil {
		log.Fatal(err) // the reader failed
	}
	fmt.Println("from:", m.From[0].Name, m.From[0].Email)
	fmt.Println("text:", htmltext.Text(m.HTML))
	for _, a := range m.Attachments {
		fmt.Println("file:", a.Filename, len(a.Content), "bytes")
	}
	for _, d := range m.Defects {
		fmt.Println("defect:", d)
	}
	// Output:
	// from: Jürgen juergen@example.com
	// text: The rates, in £.
	// file: rates.csv 3 bytes
	// defect: boundary_not_closed in the message: b
}

func ExampleParse_limits() {
	raw := "Subject: hi\r\n\r\n" + strings.Repeat("x", 1000)
	m, err := mime.Parse(strings.NewReader(raw), &mime.Limits{Size: 512})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Subject, len(m.Text))
	fmt.Println(m.Defects)
	// Output:
	// hi 497
	// [limit_exceeded in the message: Limits.Size is 512]
}

func ExampleOutgoing_Build() {
	o := mime.Outgoing{
		From:       []mime.Address{{Name: "Ada", Email: "ada@example.com"}},
		To:         []mime.Address{{Name: "Jürgen", Email: "juergen@example.com"}},
		Subject:    "Re: The rates",
		InReplyTo:  "m1@example.com",
		References: []string{"m0@example.com", "m1@example.com"},
		Text:       "Thank you.\n",
	}
	raw, err := o.Build()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(strings.ReplaceAll(string(raw), "\r\n", "\n"))
	// Output:
	// From: Ada <ada@example.com>
	// To: =?utf-8?q?J=C3=BCrgen?= <juergen@example.com>
	// Subject: Re: The rates
	// In-Reply-To: <m1@example.com>
	// References: <m0@example.com> <m1@example.com>
	// MIME-Version: 1.0
	// Content-Type: text/plain; charset=utf-8
	// Content-Transfer-Encoding: 7bit
	//
	// Thank you.
}

func ExampleOutgoing_Build_injection() {
	o := mime.Outgoing{
		From:    []mime.Address{{Email: "ada@example.com"}},
		To:      []mime.Address{{Email: "bob@example.org"}},
		Subject: "Hello\r\nBcc: eve@evil.example",
		Text:    "Hello Bob.\n",
	}
	_, err := o.Build()
	fmt.Println(err)
	// Output:
	// mime: build message: Subject has CR, LF or NUL in it: "Hello\r\nBcc: eve@evil.example"
}
