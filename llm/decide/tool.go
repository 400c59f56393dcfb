package decide

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
)

// RecordDecision is the name of the tool that a model calls to decide.
const RecordDecision = "record_decision"

// decisionTool returns the tool with the actions that the model may choose from. The message is not among its
// arguments: the model does not choose which one it decides about. With a question it takes one more, and with reply
// another, which is optional.
func decisionTool(actions []postroom.ActionType, reply bool, question *Question) llm.Tool {
	unit := object{"type": "number", "minimum": 0, "maximum": 1}
	text := object{"type": "string"}
	texts := object{"type": "array", "items": text}
	free := object{"type": "object"}
	action := object{"type": "string", "enum": actions}

	alternative := structure(object{
		"action":     action,
		"confidence": unit,
		"why_not":    described("Why this action was not taken.", text),
	})
	properties := object{
		"decision": structure(object{
			"action":         action,
			"parameters":     described(`The action's arguments, such as {"label": "Receipts"}; {} when it has none.`, free),
			"confidence":     described("How sure the decision is, from 0 to 1.", unit),
			"needs_approval": described("Whether a person should look before anything happens.", object{"type": "boolean"}),
			"rationale":      described("The reason in one or two sentences.", text),
		}),
		"explanations": structure(object{
			"salient_features":        described("What in the message counted.", texts),
			"matched_directions":      described("The directions that applied.", texts),
			"considered_alternatives": object{"type": "array", "items": alternative},
		}),
		"undo_hint": structure(object{
			"inverse_action":     described("What would take the action back; none when nothing can.", action),
			"inverse_parameters": free,
		}),
	}
	if question != nil { // else a model that leaves it out has to be asked again
		properties[fieldEnrichment] = question.Schema
	}
	schema := structure(properties)
	if reply { // after the required ones are listed
		properties["reply"] = described("Whether the person has to answer the message; none when that is not sure.",
			object{"type": "string", "enum": []postroom.ReplyNeed{postroom.ReplyNeeded, postroom.ReplyWaiting, replyNone}})
	}
	encoded, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("llm/decide: the tool's schema is made of plain values: %v", err))
	}
	return llm.Tool{Name: RecordDecision,
		Description: "Record what is to be done with the message. Call it exactly once.", Schema: encoded}
}

type object map[string]any

// structure returns an object schema whose properties are all required.
func structure(properties object) object {
	required := make([]string, 0, len(properties))
	for name := range properties {
		required = append(required, name)
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func described(description string, schema object) object {
	copied := maps.Clone(schema)
	copied["description"] = description
	return copied
}
