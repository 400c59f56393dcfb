package mime

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// reportEntity makes a multipart/report (RFC 6522): the text for people, the machine-readable report, and the message
// or header that both are about.
func (o *Outgoing) reportEntity(text *entity) *entity {
	subtype, body := "disposition-notification", o.receiptFields()
	if o.Bounce != nil {
		subtype, body = "delivery-status", o.Bounce.fields()
	}
	parts := []*entity{text, {contentType: "message/" + subtype, encoding: "7bit", isText: true, open: opener(body)}}
	if len(o.Returned) > 0 {
		returned := &entity{contentType: "message/rfc822", encoding: "base64", asIs: true, open: opener(o.Returned)}
		if isHeaderAlone(o.Returned) {
			returned.contentType = "text/rfc822-headers"
		}
		parts = append(parts, returned)
	}
	return &entity{contentType: "multipart/report; report-type=" + subtype, parts: parts}
}

// isHeaderAlone reports whether a message has no body.
func isHeaderAlone(message []byte) bool {
	_, afterLF, hasLF := bytes.Cut(message, []byte("\n\n"))
	_, afterCRLF, hasCRLF := bytes.Cut(message, []byte("\r\n\r\n"))
	return (!hasLF || len(afterLF) == 0) && (!hasCRLF || len(afterCRLF) == 0)
}

// A fieldWriter gathers groups of fields.
type fieldWriter []byte

func (w *fieldWriter) field(name, kind, value string) {
	if value != "" {
		*w = append(*w, fold(name, kind+encodeText(value, wordRoom(name)))...)
	}
}

func (w *fieldWriter) date(name string, t time.Time) {
	if !t.IsZero() {
		w.field(name, "", t.Format(dateLayout))
	}
}

// fields are those of RFC 3464, section 2.
func (b *Bounce) fields() []byte {
	var w fieldWriter
	w.field("Original-Envelope-Id", "", b.EnvelopeID)
	w.field("Reporting-MTA", "dns; ", b.ReportingMTA)
	w.field("Received-From-MTA", "dns; ", b.ReceivedFromMTA)
	w.date("Arrival-Date", b.Arrival)
	for _, r := range b.Recipients {
		w = append(w, "\r\n"...)
		w.field("Original-Recipient", "rfc822; ", r.Original)
		w.field("Final-Recipient", "rfc822; ", r.Final)
		w.field("Action", "", string(r.Action))
		w.field("Status", "", r.Status)
		w.field("Remote-MTA", "dns; ", r.RemoteMTA)
		w.field("Diagnostic-Code", "smtp; ", r.Diagnostic)
		w.date("Last-Attempt-Date", r.LastAttempt)
		w.date("Will-Retry-Until", r.RetryUntil)
	}
	return w
}

// receiptFields are those of RFC 8098, section 3.
func (o *Outgoing) receiptFields() []byte {
	r := o.Receipt
	if r == nil {
		return nil
	}
	action, sending := "manual-action", "MDN-sent-manually"
	if r.AutomaticAction {
		action = "automatic-action"
	}
	if r.Automatic {
		sending = "MDN-sent-automatically"
	}
	disposition := action + "/" + sending + "; " + r.Disposition
	if len(r.Modifiers) > 0 {
		disposition += "/" + strings.Join(r.Modifiers, ",")
	}
	var w fieldWriter
	w.field("Reporting-UA", "", r.ReportingUA)
	w.field("Original-Recipient", "rfc822; ", r.Original)
	w.field("Final-Recipient", "rfc822; ", r.Final)
	w.field("Original-Message-ID", "", encodeIDs(r.OriginalMessageID))
	w.field("Disposition", "", disposition)
	w.field("Error", "", r.Error)
	return w
}

// report checks the requirements of both reports.
func (v *validator) report(o *Outgoing) {
	if o.Bounce == nil && o.Receipt == nil {
		if len(o.Returned) > 0 {
			v.fail("Returned", fmt.Errorf("%w: only a Bounce or a Receipt returns a message", ErrInvalid))
		}
		return
	}
	if o.Bounce != nil && o.Receipt != nil || o.Calendar != nil || len(o.Attachments) > 0 {
		v.fail("Bounce", fmt.Errorf("%w: a report is a Bounce or a Receipt, without Calendar and Attachments", ErrInvalid))
	}
	if o.Bounce != nil {
		v.bounce(o.Bounce)
	}
	if r := o.Receipt; r != nil {
		v.reportAddress("Receipt.Final", r.Final, true)
		v.reportAddress("Receipt.Original", r.Original, false)
		v.id("Receipt.OriginalMessageID", r.OriginalMessageID)
		v.text("Receipt.ReportingUA", r.ReportingUA)
		v.text("Receipt.Error", r.Error)
		for _, word := range append([]string{r.Disposition}, r.Modifiers...) {
			v.text("Receipt.Disposition", word)
			if !isToken(word) {
				v.invalid("Receipt.Disposition", word, "a word such as displayed")
			}
		}
	}
}

func (v *validator) bounce(b *Bounce) {
	v.text("Bounce.ReportingMTA", b.ReportingMTA)
	v.text("Bounce.ReceivedFromMTA", b.ReceivedFromMTA)
	v.text("Bounce.EnvelopeID", b.EnvelopeID)
	if b.ReportingMTA == "" {
		v.invalid("Bounce.ReportingMTA", "", "a host name, which RFC 3464 requires")
	}
	if len(b.Recipients) == 0 {
		v.fail("Bounce.Recipients", fmt.Errorf("%w: it names none", ErrInvalid))
	}
	actions := []BounceAction{BounceFailed, BounceDelayed, BounceDelivered, BounceRelayed, BounceExpanded}
	for i, r := range b.Recipients {
		field := fmt.Sprintf("Bounce.Recipients[%d].", i)
		v.reportAddress(field+"Final", r.Final, true)
		v.reportAddress(field+"Original", r.Original, false)
		v.text(field+"RemoteMTA", r.RemoteMTA)
		v.text(field+"Diagnostic", r.Diagnostic)
		if !slices.Contains(actions, r.Action) {
			v.invalid(field+"Action", string(r.Action), "one of the actions")
		}
		if !isStatus(r.Status) {
			v.invalid(field+"Status", r.Status, "a status such as 5.1.1 (RFC 3463)")
		}
	}
}

// reportAddress checks an address in a report. International addresses (RFC 6533) are not supported.
func (v *validator) reportAddress(field, email string, required bool) {
	v.text(field, email)
	if (email != "" || required) && (!isAddrSpec(email) || !isASCII(email)) {
		v.invalid(field, email, "an address in ASCII")
	}
}

func isStatus(s string) bool {
	parts := strings.Split(s, ".")
	return len(parts) == 3 && len(parts[0]) == 1 && strings.Trim(parts[0], "245") == "" &&
		!slices.ContainsFunc(parts, func(part string) bool {
			return part == "" || len(part) > 3 || strings.Trim(part, "0123456789") != ""
		})
}
