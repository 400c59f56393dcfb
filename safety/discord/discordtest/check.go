package discordtest

import (
	"fmt"
	"net/http"
	"unicode/utf16"
)

// An apiError is an error response of the API.
type apiError struct {
	status  int
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return e.Message }

func refuse(status, code int, message string) error {
	return &apiError{status: status, Code: code, Message: message}
}

// The codes of Discord's errors.
const (
	codeUnknownChannel     = 10003
	codeUnknownMessage     = 10008
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeAcknowledged       = 40060
	codeEmpty              = 50006
	codeOthersMessage      = 50005
	codeInvalidForm        = 50035
)

func invalid(format string, args ...any) error {
	return refuse(http.StatusBadRequest, codeInvalidForm, "Invalid Form Body: "+fmt.Sprintf(format, args...))
}

// size returns the length that the limits apply to.
func size(s string) int { return len(utf16.Encode([]rune(s))) }

// check enforces the limits of a message.
func (m *Message) check() error {
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Components) == 0 {
		return refuse(http.StatusBadRequest, codeEmpty, "Cannot send an empty message")
	}
	if size(m.Content) > 2000 {
		return invalid("content: must be 2000 or fewer in length")
	}
	if len(m.Embeds) > 10 {
		return invalid("embeds: must be 10 or fewer in length")
	}
	total := 0
	for _, e := range m.Embeds {
		n, err := e.check()
		if err != nil {
			return err
		}
		total += n
	}
	if total > 6000 {
		return invalid("embeds: must be 6000 or fewer in length together")
	}
	return checkRows(m.Components)
}

func (e *Embed) check() (total int, err error) {
	within := func(what, text string, low, high int) {
		n := size(text)
		total += n
		if err == nil && (n < low || n > high) {
			err = invalid("embeds.%s: must be between %d and %d in length", what, low, high)
		}
	}
	within("title", e.Title, 0, 256)
	within("description", e.Description, 0, 4096)
	if len(e.Fields) > 25 {
		return 0, invalid("embeds.fields: must be 25 or fewer in length")
	}
	for _, f := range e.Fields {
		within("fields.name", f.Name, 1, 256)
		within("fields.value", f.Value, 1, 1024)
	}
	if e.Footer != nil {
		within("footer.text", e.Footer.Text, 1, 2048)
	}
	return total, err
}

func checkRows(rows []Row) error {
	if len(rows) > 5 {
		return invalid("components: must be 5 or fewer in length")
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if row.Type != 1 || len(row.Components) < 1 || len(row.Components) > 5 {
			return invalid("components: a row has type 1 and 1 to 5 components")
		}
		for _, b := range row.Components {
			switch {
			case b.Type != 2:
				return invalid("components: only buttons are known here")
			case size(b.Label) > 80:
				return invalid("components.label: must be 80 or fewer in length")
			case b.Style == 5:
				continue
			case b.CustomID == "" || size(b.CustomID) > 100:
				return invalid("components.custom_id: must be between 1 and 100 in length")
			case seen[b.CustomID]:
				return invalid("components.custom_id: component custom id cannot be duplicated")
			}
			seen[b.CustomID] = true
		}
	}
	return nil
}
