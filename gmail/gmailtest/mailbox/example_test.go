package mailbox_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func ExampleOpenMbox() {
	dir, err := os.MkdirTemp("", "mailbox")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "letters.mbox")
	letters := "From ann@example.com Mon Jan  5 10:00:00 2026\nSubject: one\n\n>From here\n\n" +
		"From ben@example.com Tue Jan  6 10:00:00 2026\nSubject: two\n\n"
	if err := os.WriteFile(path, []byte(letters), 0o600); err != nil {
		log.Fatal(err)
	}

	source, err := mailbox.OpenMbox(path)
	if err != nil {
		log.Fatal(err)
	}
	for message, err := range source.Messages() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %q\n", message.Position, message.Received.Format("2 Jan"), message.Raw)
	}

	_, err = mailbox.OpenMaildir(path)
	fmt.Println(errors.Is(err, mailbox.ErrNotMailbox))
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 5 Jan "Subject: one\n\nFrom here\n"
	// 2 6 Jan "Subject: two\n"
	// true
}
