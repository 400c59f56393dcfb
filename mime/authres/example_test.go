package authres_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

func ExampleVerifiedFrom() {
	server := authres.Server{ID: "mx.example.org"} // of Gmail: gmail.AuthServer()
	m, err := mime.Parse(strings.NewReader("Authentication-Results: mx.example.org; dmarc=pass header.from=shop.example\n"+
		"Received: from mail.shop.example by mx.example.org; Mon, 5 Jan 2026 09:00:00 +0000\n"+
		"From: news@shop.example\n\nSocks."), nil)
	if err != nil {
		log.Fatal(err)
	}
	from, ok := authres.VerifiedFrom(m, server)
	fmt.Println(from.Email, ok)
	// Output: news@shop.example true
}
