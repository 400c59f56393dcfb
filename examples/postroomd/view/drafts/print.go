package drafts

import (
	"io"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/drafting"
)

// FateText says what has become of a draft at Gmail that was discarded.
func FateText(f drafting.Fate) string {
	switch f {
	case drafting.FateDeleted:
		return "Discarded, and deleted at Gmail."
	case drafting.FateKept:
		return "Discarded. You have changed the draft: it stays among your drafts in Gmail."
	}
	return "Discarded. There was no draft at Gmail."
}

// Print prints what is sent for people: to whom, and each word.
func (v *AtGmail) Print(w io.Writer) error {
	r := printer.NewReport(w)
	r.Heading("what is sent")
	r.Add("from", v.From)
	for _, to := range v.Recipients {
		known := ""
		if !to.Known {
			known = " (new: you have never written there)"
		}
		r.Add(strings.ToLower(to.Field), to.Address+known)
	}
	r.Add("subject", v.Subject)
	for _, f := range v.Files {
		r.Add("file", f.Filename+" ("+f.ContentType+", "+printer.Count(f.Size, "byte", "bytes")+")")
	}
	r.Add("sha256", v.SHA256)
	r.Quote(v.Whole)
	if v.HTMLDiffers() {
		r.Heading("what its HTML shows")
		r.Quote(v.HTML.Text)
	}
	if v.HTML.Hides {
		r.Line("The HTML has more that its reader would not see, or may not: look at it in Gmail.")
	}
	return r.Flush()
}

// Print prints the draft for people.
func (v Whole) Print(w io.Writer) error {
	r := printer.NewReport(w)
	r.Heading("draft " + v.ID)
	r.Add("mailbox", v.Mailbox)
	r.Add("subject", v.Subject)
	r.Add(map[bool]string{false: "answers", true: "reminds"}[v.Reminder], v.From)
	r.Add("state", v.Words())
	r.Add("why", v.Reason)
	r.Add("since", printer.Clock(v.Since))
	r.Heading("conversation")
	for _, m := range v.Thread {
		r.Add(printer.Minute(m.ReceivedAt), m.From)
		r.Quote(m.Snippet)
	}
	r.Heading("history")
	for _, c := range v.History {
		r.Line(c.Line())
	}
	v.printTexts(r)
	return r.Flush()
}

// What is what happened, for people.
func (c Change) What() string {
	return strings.ReplaceAll(string(c.Event), "_", " ") + ": " + strings.ReplaceAll(string(c.State), "_", " ")
}

// Line is the change for people.
func (c Change) Line() string {
	line := printer.Clock(c.At) + "  " + c.What()
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	return line
}

func (v Whole) printTexts(r *printer.Report) {
	for i, t := range v.Versions {
		r.Heading(strconv.Itoa(i+1) + ". " + t.Title())
		if t.Instruction != "" {
			r.Add("instruction", t.Instruction)
		}
		r.Quote(t.Text)
	}
	switch {
	case v.AtGmail != nil && !v.AtGmail.Touched:
		r.Heading("at Gmail: as written last")
	case v.AtGmail != nil:
		r.Heading("at Gmail: changed by a person")
		r.Quote(v.AtGmail.Text)
	case v.Unread != "":
		r.Heading("at Gmail")
		r.Line("not read: " + v.Unread)
	}
}

// Title says what a version is.
func (t Text) Title() string {
	switch t.By {
	case drafting.ByPerson:
		return "as a person had changed it"
	case drafting.ByRequest:
		return "asked for"
	}
	return "as written"
}
