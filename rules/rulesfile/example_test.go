package rulesfile_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A file of rules decides about a message, without a database.
func ExampleParse() {
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(`
labels: [Newsletters]
rules:
  - name: Newsletters
    condition: {type: header_present, header: List-Unsubscribe}
    action: move
    parameters: {label: Newsletters}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	set := rules.NewSet(file.Rules, nil)
	decision := set.Decide(&postroom.Message{
		Subject: "The east pier is back",
		Headers: []postroom.Header{{Name: "List-Unsubscribe", Value: "<mailto:leave@harbour.example>"}},
	}, time.Now())
	fmt.Println(decision.Action, decision.Parameters["label"])
	fmt.Println(decision.Rationale)
	// Output:
	// move Newsletters
	// Matched deterministic rule 'Newsletters' (priority 100)
}

// Every fault of a file is told at once, with its place.
func ExampleFileError() {
	_, err := rulesfile.Parse("rules.yaml", strings.NewReader(`
rules:
  - name: Newsletters
    condition: {type: subject_contain, value: news}
    action: archiv
`))
	fmt.Println(err)
	// Output:
	// rules.yaml:4:23: unknown condition type: "subject_contain"; did you mean subject_contains?
	//    4 |     condition: {type: subject_contain, value: news}
	//      |                       ^
	//
	// rules.yaml:5:13: unknown action "archiv"; did you mean archive?
	//    5 |     action: archiv
	//      |             ^
}
