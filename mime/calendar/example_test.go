package calendar_test

import (
	"fmt"
	"log"
	"time"

	"github.com/postroom-go/postroom/mime/calendar"
)

func ExampleParse() {
	c, err := calendar.Parse("BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nSUMMARY:Lunch\n" +
		"DTSTART;TZID=W. Europe Standard Time:20260706T120000\nDURATION:PT1H\nORGANIZER;CN=Bob:mailto:bob@example.net\n" +
		"END:VEVENT\nEND:VCALENDAR\n")
	if err != nil {
		log.Fatal(err)
	}
	e := c.Events[0]
	fmt.Println(c.Method, e.Summary, "by", e.Organizer.Name)
	fmt.Println(e.Start.Time.Format(time.RFC3339), "to", e.End.Time.Format(time.RFC3339))
	// Output:
	// REQUEST Lunch by Bob
	// 2026-07-06T12:00:00+02:00 to 2026-07-06T13:00:00+02:00
}
