package rules_test

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

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
