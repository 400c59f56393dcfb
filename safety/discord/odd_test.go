package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// What is no press of a button of ours is passed over, and does not end the connection.
func TestOddEventsArePassedOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t, dbtest.SQLite(t), nil)
	f.run()
	a, m := f.asked()
	id := customID(t, m, "Approve")
	for _, event := range []string{
		`{"type":1,"id":"1","token":"t"}`,
		`{"type":2,"id":"1","token":"t","data":null,"future_field":{"a":[1]}}`,
		`{"type":2,"id":"1","token":"t","data":{"id":"2","name":"approve"}}`,
		`{"type":3,"id":"1","token":"t","data":null}`,
		`{"type":3,"id":"1","token":"t","data":{"component_type":3,"custom_id":"foo","values":["a"]}}`,
		`{"type":3,"id":"1","token":"t","data":{"component_type":2,"custom_id":"` + id + `"}}`,
		`{"type":3,"id":"1","token":"t","data":{"component_type":2,"custom_id":"` + id + `"},"member":{},"message":{"id":"1"}}`,
		`{"type":4,"id":"1","token":"t","data":{"id":"2","name":"n","options":[{"name":"q","type":3,"focused":true,"value":"x"}]}}`,
		`{"type":5,"id":"1","token":"t","data":{"custom_id":"` + id + `","components":[]}}`,
		`{"type":99,"id":"1","token":"t","data":{}}`,
		`{}`,
		`null`,
	} {
		f.server.Dispatch("INTERACTION_CREATE", []byte(event))
	}
	f.server.Dispatch("SOMETHING_NEW", []byte(`[1,2]`))
	require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Reject", User: ann}), "Rejected.")
	require.Empty(t, f.done())
	require.Equal(t, "rejected", string(f.state(a.ID)))
}
