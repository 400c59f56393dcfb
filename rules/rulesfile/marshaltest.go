package rulesfile

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// testTree is the tree of a test. Its message is described as a file does it; see [Revision].
func testTree(t *Test) *docNode {
	n := &docNode{kind: docMapping}
	n.addText("name", t.Name)
	n.add("message", messageTree(t))
	if !t.Now.IsZero() && !t.Now.Equal(t.Message.ReceivedAt) {
		n.addText("now", t.Now.Format(time.RFC3339Nano))
	}
	n.addTexts("rules", t.Rules)
	n.addTexts("without", t.Without)
	if t.Actions != nil {
		list := &docNode{kind: docList}
		for _, a := range t.Actions {
			one := &docNode{kind: docMapping}
			addAction(one, a)
			list.add("", one)
		}
		n.add("actions", list)
	}
	return n
}

func messageTree(t *Test) *docNode {
	m, n := t.Message, &docNode{kind: docMapping}
	n.addText("account", m.AccountID)
	for _, a := range []struct {
		key  string
		list []postroom.Address
	}{{"from", []postroom.Address{m.From}}, {"reply_to", m.ReplyTo}, {"to", m.To}, {"cc", m.Cc}, {"bcc", m.Bcc}} {
		n.addOneOrMore(a.key, addressTexts(a.list))
	}
	n.addText("subject", oneLine(m.Subject))
	if !m.Date.IsZero() && !m.Date.Equal(m.ReceivedAt) {
		n.addText("date", m.Date.Format(time.RFC3339))
	}
	if !m.ReceivedAt.IsZero() {
		n.addText("received", m.ReceivedAt.Format(time.RFC3339Nano))
	}
	if headers := headersTree(m); len(headers.entries) > 0 {
		n.add("headers", headers)
	}
	if len(m.LabelIDs) > 0 {
		n.addTexts("labels", m.LabelIDs)
	}
	if len(m.Attachments) > 0 {
		n.add("attachments", attachmentsTree(m))
	}
	if m.Size > 0 {
		n.addText("size", strconv.FormatInt(m.Size, 10)+"B")
	}
	if len(m.Header("Authentication-Results")) == 0 && t.Authenticated {
		n.addBool("authenticated", true)
	}
	if t.SenderSeen {
		n.addBool("sender_seen", true)
	}
	if t.Past.WrittenTo {
		n.addBool("sender_written_to", true)
	}
	if !t.Past.Mine.IsZero() {
		n.addText("i_wrote", t.Past.Mine.Format(time.RFC3339Nano))
	}
	if t.Past.Theirs.After(m.ReceivedAt) {
		n.addText("they_wrote", t.Past.Theirs.Format(time.RFC3339Nano))
	}
	n.addText("body", m.BodyPlain)
	n.addText("html", m.BodyHTML)
	return n
}

// addOneOrMore writes one text as it is, and several as a list.
func (n *docNode) addOneOrMore(key string, texts []string) {
	switch len(texts) {
	case 0:
	case 1:
		n.addText(key, texts[0])
	default:
		n.addTexts(key, texts)
	}
}

func addressTexts(list []postroom.Address) (texts []string) {
	for _, a := range list {
		if !a.IsZero() {
			texts = append(texts, addressText(a))
		}
	}
	return texts
}

// addressText is an address as a header field has it.
func addressText(a postroom.Address) string {
	if name := oneLine(a.Name); strings.ContainsAny(name, `()<>[]:;@\,."`) {
		a.Name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	return oneLine(a.String())
}

// oneLine is a text as a header field has it.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// headersTree has the header fields that no key of a message stands for.
func headersTree(m *postroom.Message) *docNode {
	n, values := &docNode{kind: docMapping}, map[string][]string{}
	var names []string
	for _, h := range m.Headers {
		name := strings.ToLower(h.Name)
		own := slices.ContainsFunc(addressKeys, func(k struct{ key, field string }) bool {
			return strings.EqualFold(k.field, name)
		})
		if own || name == "subject" || name == "date" || name == "mime-version" || strings.HasPrefix(name, "content-") ||
			rules.CheckHeader("", h.Name) != nil {
			continue
		}
		if values[name] == nil {
			names = append(names, h.Name)
		}
		values[name] = append(values[name], oneLine(h.Value))
	}
	for _, name := range names {
		if texts := values[strings.ToLower(name)]; len(texts) > 1 {
			n.addTexts(name, texts)
		} else {
			n.add(name, &docNode{kind: docText, text: texts[0]})
		}
	}
	return n
}

func attachmentsTree(m *postroom.Message) *docNode {
	list := &docNode{kind: docList}
	for _, a := range m.Attachments {
		one := &docNode{kind: docMapping}
		one.add("name", &docNode{kind: docText, text: a.Filename})
		if kind, _, _ := strings.Cut(a.ContentType, ";"); mediaType(kind) {
			one.addText("type", kind)
		}
		list.add("", one)
	}
	return list
}
