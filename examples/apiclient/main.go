// Apiclient is a program that calls the HTTP API of postroomd, by the standard library alone. It prints what waits for
// a person, and then what happens.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"
)

func main() {
	ctx, c := context.Background(), &Client{os.Getenv("POSTROOM_URL"), os.Getenv("POSTROOM_API_TOKEN"), 2 * time.Second}
	waiting, err := c.Waiting(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range waiting {
		fmt.Printf("%q: it would %s; %q\n", r.Subject, r.Would, r.Reasons)
	}
	for e, err := range c.Events(ctx, "") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.At.Format(time.TimeOnly), e.Mailbox, e.Kind, e.State, e.ID)
	}
}
