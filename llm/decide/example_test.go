package decide_test

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
)

// parrot is a client whose model archives everything.
type parrot struct{}

func (parrot) Complete(context.Context, *llm.Request) (*llm.Response, error) {
	return &llm.Response{Model: "parrot::1", ToolCalls: []llm.ToolCall{{ID: "1", Name: decide.RecordDecision, Arguments: `{
		"decision": {"action": "archive", "parameters": {}, "confidence": 0.8, "needs_approval": false, "rationale": "Nobody has to read it."},
		"explanations": {"salient_features": [], "matched_directions": [], "considered_alternatives": []},
		"undo_hint": {"inverse_action": "none", "inverse_parameters": {}}
	}`}}}, nil
}

func ExampleDecider() {
	decider, err := decide.New(decide.Config{
		Client:  parrot{},
		Actions: []postroom.ActionType{postroom.Archive, postroom.Star},
		Guidance: func(context.Context, *postroom.Message) (decide.Guidance, error) {
			return decide.Guidance{Instructions: []guidance.Instruction{{Text: "Archive what nobody has to read."}}}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := decider.Decide(context.Background(), &postroom.Message{ID: "m1", Subject: "Weekly digest"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s (%.0f %%, %s): %s\n", decision.Action, 100*decision.Confidence, decision.Model, decision.Rationale)
	// Output: archive (80 %, parrot::1): Nobody has to read it.
}
