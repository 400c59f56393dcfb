package rules_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
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
    condition: {type: subject_regex, value: '(news'}
    action: archiv
`))
	fmt.Println(err)
	// Output:
	// rules.yaml:4:45: bad regular expression: missing closing ): `(news`; the syntax is Go's (RE2); a backslash before a character takes it literally
	//    4 |     condition: {type: subject_regex, value: '(news'}
	//      |                                             ^
	//
	// rules.yaml:5:13: unknown action "archiv"; did you mean archive?
	//    5 |     action: archiv
	//      |             ^
}

func ExampleCompile() {
	program, err := rules.Compile(rules.AllOf(
		rules.Condition{Type: rules.SenderDomain, Value: "shop.example"},
		rules.NoneOf(rules.Condition{Type: rules.HasAttachment}),
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	msg := &postroom.Message{From: postroom.Address{Email: "hello@shop.example"}}
	fmt.Println(program.Match(msg, time.Now()))
	// Output: true
}

// The engine decides by the rules that are stored now.
func ExampleEngine() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if err := rulestore.Migrate(ctx, db); err != nil {
		fmt.Println(err)
		return
	}
	store, err := rulestore.New(rulestore.Config{DB: db})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		shops := rules.Condition{Type: rules.SenderDomain, Value: "shop.example"}
		_, err := store.Create(ctx, tx, rules.NewRule("Shops", shops, postroom.Archive, nil))
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := rules.NewEngine(rules.EngineConfig{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := engine.Decide(ctx, &postroom.Message{From: postroom.Address{Email: "hello@shop.example"}})
	fmt.Println(decision.Action, err)
	// Output: archive <nil>
}
