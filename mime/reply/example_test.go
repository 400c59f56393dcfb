package reply_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/reply"
)

func ExampleRead() {
	m, err := mime.Parse(strings.NewReader(
		"From: ada@example.com\n\nTen is fine.\n\nAm Mo., 5. Jan. 2026 um 10:00 Uhr schrieb Bob <bob@example.net>:\n> Zehn?\n\n-- \nAda\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	reply := reply.Read(m)
	fmt.Println(reply.Written())
	fmt.Println(reply.Quoted())
	// Output:
	// Ten is fine.
	// > Zehn?
}
