package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A User is an account at Discord.
type User struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name,omitempty"`
	Bot        bool   `json:"bot,omitempty"`
}

// A Message is a message in the form of the API.
type Message struct {
	ID              string          `json:"id"`
	ChannelID       string          `json:"channel_id"`
	Author          User            `json:"author"`
	Content         string          `json:"content"`
	Embeds          []Embed         `json:"embeds"`
	Components      []Row           `json:"components"`
	Flags           int             `json:"flags,omitempty"`
	Timestamp       time.Time       `json:"timestamp"`
	EditedTimestamp *time.Time      `json:"edited_timestamp"`
	Nonce           string          `json:"nonce,omitempty"`
	Mentions        []User          `json:"mentions"`
	AllowedMentions json.RawMessage `json:"-"` // as last given by the writer; nil if left out
	Edits           int             `json:"-"`
	Enforced        bool            `json:"-"` // the nonce must be enforced
}

// An Embed is a block with a title and fields.
type Embed struct {
	Type        string  `json:"type,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	URL         string  `json:"url,omitempty"`
	Color       int     `json:"color,omitempty"`
	Fields      []Field `json:"fields,omitempty"`
	Footer      *Footer `json:"footer,omitempty"`
}

// A Field is a name and a value of an [Embed].
type Field struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// A Footer is the last line of an [Embed].
type Footer struct {
	Text string `json:"text"`
}

// A Row is a row of buttons.
type Row struct {
	Type       int      `json:"type"` // 1
	Components []Button `json:"components"`
}

// A Button is a button.
type Button struct {
	Type     int    `json:"type"` // 2
	Style    int    `json:"style"`
	Label    string `json:"label"`
	CustomID string `json:"custom_id,omitempty"`
	URL      string `json:"url,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// Text returns the text that people read in the message, one line for each part.
func (m Message) Text() string {
	lines := []string{m.Content}
	for _, e := range m.Embeds {
		lines = append(lines, e.Title, e.Description)
		for _, f := range e.Fields {
			lines = append(lines, f.Name+": "+f.Value)
		}
		if e.Footer != nil {
			lines = append(lines, e.Footer.Text)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	return strings.Join(lines, "\n")
}

// Button returns the button with the label.
func (m Message) Button(label string) (Button, bool) {
	for _, row := range m.Components {
		for _, b := range row.Components {
			if b.Label == label {
				return b, true
			}
		}
	}
	return Button{}, false
}

// clone returns a copy that shares nothing with the server's.
func (m *Message) clone() Message {
	c := *m
	c.Embeds = slices.Clone(m.Embeds)
	for i := range c.Embeds {
		c.Embeds[i].Fields = slices.Clone(c.Embeds[i].Fields)
	}
	c.Components = slices.Clone(m.Components)
	for i := range c.Components {
		c.Components[i].Components = slices.Clone(c.Components[i].Components)
	}
	return c
}

// A draft is the body of a call that writes a message. A nil pointer means that the field was left out.
type draft struct {
	Content         *string         `json:"content"`
	Embeds          *[]Embed        `json:"embeds"`
	Components      *[]Row          `json:"components"`
	Flags           int             `json:"flags"`
	AllowedMentions json.RawMessage `json:"allowed_mentions"`
	Nonce           string          `json:"nonce"`
	EnforceNonce    bool            `json:"enforce_nonce"`
}

// apply writes the fields of the draft into a message.
func (d *draft) apply(m *Message) {
	if d.Content != nil {
		m.Content = *d.Content
	}
	if d.Embeds != nil {
		m.Embeds = *d.Embeds
	}
	if d.Components != nil {
		m.Components = *d.Components
	}
	m.AllowedMentions = d.AllowedMentions
}
