package llm

import (
	"strings"

	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// maxTranscript is in characters.
const maxTranscript = 8000

// transcript returns the model's answer, for the record.
func transcript(resp *Response) string {
	parts := make([]string, 0, 1+len(resp.ToolCalls))
	if resp.Text != "" {
		parts = append(parts, resp.Text)
	}
	for _, c := range resp.ToolCalls {
		parts = append(parts, c.Name+" "+c.Arguments)
	}
	return dbvalue.Clean(cleantext.Cut(strings.Join(parts, "\n"), maxTranscript))
}
