package wire

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
)

func FuzzMask(f *testing.F) {
	for _, fields := range []string{"id,payload(headers/name,parts/*)", "*", "payload/*/partId", "a((", "id,,",
		"payload( parts ( partId ) )"} {
		f.Add(fields)
	}
	message := &gmail.Message{Id: "1", Payload: &gmail.MessagePart{
		PartId: "0", Headers: []*gmail.MessagePartHeader{{Name: "A", Value: "b"}}, Parts: []*gmail.MessagePart{{PartId: "1"}},
	}}
	whole, err := json.Marshal(message)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, fields string) {
		m, err := ParseMask(fields, message)
		if err != nil {
			require.Equal(t, http.StatusBadRequest, AsError(err).Status)
			return
		}
		text, err := m.marshal(message)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		require.LessOrEqual(t, len(text), len(whole))
	})
}
