package gmailtest_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// A server with the sample mailbox, and the real client on it. Tests use NewServer, which needs no Close.
func Example() {
	ctx := context.Background()
	server, err := gmailtest.Open(ctx, gmailtest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := server.Import(ctx, sample.Mailbox(), nil); err != nil {
		log.Fatal(err)
	}
	service, err := server.Service(ctx)
	if err != nil {
		log.Fatal(err)
	}

	found, err := service.Users.Messages.List("me").Q("is:starred label:family").Do()
	if err != nil {
		log.Fatal(err)
	}
	id := found.Messages[0].Id
	archive := &gmail.ModifyMessageRequest{RemoveLabelIds: []string{"INBOX"}}
	if _, err := service.Users.Messages.Modify("me", id, archive).Do(); err != nil {
		log.Fatal(err)
	}

	message, err := server.Message(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(message.Labels)
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: [Family STARRED]
}

// The second send is done, and its answer is lost: what a program does then shows whether it sends twice.
func ExampleServer_Fault() {
	ctx := context.Background()
	server, err := gmailtest.Open(ctx, gmailtest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Nth: 2, Cut: gmailtest.CutAfter})

	service, err := server.Service(ctx)
	if err != nil {
		log.Fatal(err)
	}
	letter := &gmail.Message{Raw: encoded("To: ann@example.com\r\nSubject: Hello\r\n\r\nHello!\r\n")}
	for range 2 {
		_, err := service.Users.Messages.Send("me", letter).Do()
		fmt.Println("answered:", err == nil)
	}
	sent, err := server.Count(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sent:", sent)
	if err := server.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// answered: true
	// answered: false
	// sent: 2
}
