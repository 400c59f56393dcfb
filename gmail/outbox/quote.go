package outbox

import (
	"html"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// append puts the signature and the message that is answered behind the text, in the form that Gmail gives them.
func (c *DraftContent) append(out *mime.Outgoing, signature string, answered *postroom.Message) {
	sign, quote := c.Sign && signature != "", c.Quote && c.Answers != ""
	if !sign && !quote {
		return
	}
	if out.HTML == "" {
		out.HTML = `<div dir="ltr">` + linesToHTML(out.Text) + "</div>"
	}
	if sign {
		out.Text = strings.TrimRight(out.Text, "\n") + "\n\n-- \n" + strings.TrimSpace(htmltext.Text(signature)) + "\n"
		out.HTML += "\n<br><span class=\"gmail_signature_prefix\">-- </span><br>\n" +
			`<div dir="ltr" class="gmail_signature">` + signature + "</div>"
	}
	if quote {
		who := attribution(answered)
		out.Text = strings.TrimRight(out.Text, "\n") + "\n\n" + who + "\n\n" + quotedText(answered)
		out.HTML += "\n<br>\n" + `<div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">` +
			html.EscapeString(who) + "<br></div>\n" + `<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;` +
			`border-left:1px solid rgb(204,204,204);padding-left:1ex">` + "\n" + quotedHTML(answered) +
			"\n</blockquote></div>\n"
	}
}

// attribution is the line above a quotation. The time is in the zone of the sender.
func attribution(m *postroom.Message) string {
	at := m.Date
	if at.IsZero() {
		at = m.ReceivedAt
	}
	if at.IsZero() {
		return m.From.String() + " wrote:"
	}
	return "On " + at.Format("Mon, Jan 2, 2006 at 3:04 PM") + " " + m.From.String() + " wrote:"
}

func quotedText(m *postroom.Message) string {
	text := m.BodyPlain
	if strings.TrimSpace(text) == "" {
		text = htmltext.Text(m.BodyHTML)
	}
	var quoted strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		mark := "> "
		if line == "" || strings.HasPrefix(line, ">") {
			mark = ">"
		}
		quoted.WriteString(mark + line + "\n")
	}
	return quoted.String()
}

func quotedHTML(m *postroom.Message) string {
	if strings.TrimSpace(m.BodyHTML) != "" {
		return m.BodyHTML
	}
	return linesToHTML(m.BodyPlain)
}

func linesToHTML(text string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimRight(text, "\n")), "\n", "<br>\n")
}
