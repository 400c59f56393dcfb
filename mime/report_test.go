package mime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
)

// built reads what is built.
func built(t *testing.T, o mime.Outgoing) (*mime.Message, string) {
	t.Helper()
	o.From, o.To, o.Date, o.MessageID, o.Text = []mime.Address{ada}, []mime.Address{bob}, noon, "1@example.com", "Sorry.\n"
	raw, err := o.Build()
	require.NoError(t, err)
	m, err := mime.ParseBytes(raw, nil)
	require.NoError(t, err)
	return m, string(raw)
}

func TestReportsReadBack(t *testing.T) {
	b := &mime.Bounce{
		ReportingMTA: "mx.example.com", ReceivedFromMTA: "in.example.com", EnvelopeID: "id-1",
		Recipients: []mime.BounceRecipient{{Final: "bob@example.org", Action: mime.BounceFailed, Status: "5.1.1"}},
	}
	m, _ := built(t, mime.Outgoing{Bounce: b})
	require.Equal(t, "in.example.com", bounce.Read(m).ReceivedFromMTA)
	require.Equal(t, "id-1", bounce.Read(m).EnvelopeID)

	r := &mime.Receipt{Final: "bob@example.org", Disposition: "deleted", AutomaticAction: true}
	m, raw := built(t, mime.Outgoing{Receipt: r})
	require.Equal(t, r, m.Receipt())
	require.Contains(t, raw, "; deleted\r\n", "no modifiers, no slash")
}

func TestStatusOfReports(t *testing.T) {
	for status, want := range map[string]bool{
		"5.1.1": true, "2.0.0": true, "4.999.999": true, "": false, "5": false, "5.1": false, "5.1.1.1": false, "3.1.1": false,
		"55.1.1": false, "5..1": false, "5.1234.1": false, "5.x.1": false, "5.1.-1": false,
	} {
		b := testBounce()
		b.Recipients[0].Status = status
		o := mime.Outgoing{From: []mime.Address{ada}, To: []mime.Address{bob}, Text: "x", Bounce: b}
		_, err := o.Build()
		require.Equal(t, want, err == nil, status)
	}
}

// What is returned with a report is a message, or its header alone.
func TestReturned(t *testing.T) {
	for returned, want := range map[string]string{
		"X: y\n":                 "text/rfc822-headers",
		"X: y\n\n":               "text/rfc822-headers",
		"X: y\r\n\r\n":           "text/rfc822-headers",
		"X: y\n\nbody\n":         "message/rfc822",
		"X: y\r\n\r\nbody\r\n":   "message/rfc822",
		"X: y\r\n\r\na\n\nb\r\n": "message/rfc822",
		"":                       "message/delivery-status",
	} {
		m, _ := built(t, mime.Outgoing{Bounce: testBounce(), Returned: []byte(returned)})
		parts := m.Root.Parts
		require.Equal(t, want, parts[len(parts)-1].ContentType, "%q", returned)
	}
}

// An address is given up when it is at fault, and only then.
func TestHardBounces(t *testing.T) {
	for want, recipients := range map[bool][]mime.BounceRecipient{
		true: {
			{Action: mime.BounceFailed, Reason: mime.ReasonNoUser},
			{Action: mime.BounceFailed, Reason: mime.ReasonUnknown, Status: "5.0.0"},
			{Action: mime.BounceFailed, Reason: mime.ReasonUnknown, Code: 500},
		},
		false: {
			{Action: mime.BounceDelayed, Reason: mime.ReasonNoUser},
			{Action: mime.BounceFailed, Reason: mime.ReasonFull, Status: "5.2.2"},
			{Action: mime.BounceFailed, Reason: mime.ReasonUnknown},
			{Action: mime.BounceFailed, Reason: mime.ReasonUnknown, Status: "4.0.0", Code: 550},
			{Action: mime.BounceFailed, Reason: mime.ReasonUnknown, Code: 450},
		},
	} {
		for _, r := range recipients {
			require.Equal(t, want, r.Hard(), "%+v", r)
		}
	}
}

// A bounce is hard or soft by the class of its status, else by the SMTP code, else unknown.
func TestClassOfABounce(t *testing.T) {
	for want, recipients := range map[mime.BounceClass][]mime.BounceRecipient{
		mime.BounceHard:        {{Status: "5.2.2", Reason: mime.ReasonFull}, {Status: "5.1.1", Code: 450}, {Code: 550}},
		mime.BounceSoft:        {{Status: "4.4.1", Code: 550, Reason: mime.ReasonNoDomain}, {Code: 421}},
		mime.BounceUnspecified: {{}, {Reason: mime.ReasonNoUser}, {Code: 250}, {Status: "2.0.0", Code: 550}},
	} {
		for _, r := range recipients {
			require.Equal(t, want, r.Class(), "%+v", r)
		}
	}
}

// report is a report of a type, as a person's program sends it, with so many parts of content.
func report(from, multipart, kind string, contents ...string) string {
	between := "\n--b\nContent-Type: " + kind + "\n\n"
	return "From: " + from + "\nContent-Type: multipart/" + multipart + "; boundary=b\n\n--b\n\nRead below." +
		between + strings.Join(contents, between) + "\n--b--\n"
}

func TestBounceReport(t *testing.T) {
	const status = "message/delivery-status"
	const fields = "Reporting-MTA: dns; mx.example.com\n\nFinal-Recipient: rfc822; bob@example.org (Bob)\nAction: failed\nStatus: 5.1.1\n"
	for raw, want := range map[string]bool{
		report("ann@example.org", "report", status, fields):                      true,
		report("mailer-daemon@example.org", "mixed", status, fields):             true,
		"Return-Path: <>\n" + report("ann@example.org", "mixed", status, fields): true,
		report("ann@example.org", "mixed", status, fields):                       false,
		report("ann@example.org", "report", status, "Reporting-MTA: dns; x\n"):   false,
		report("ann@example.org", "report", status, ""):                          false,
	} {
		b := bounce.Read(parsed(t, raw))
		require.Equal(t, want, b != nil, raw)
		if want {
			require.Equal(t, mime.BounceReport, b.Format, raw)
			require.Equal(t, "bob@example.org", b.Recipients[0].Final)
		}
	}
	require.Nil(t, bounce.Read(&mime.Message{}))

	one := func(fields string) mime.BounceRecipient {
		m := parsed(t, report("ann@example.org", "report", status, "Action: failed\nStatus: 5.1.1\n"+fields,
			"Final-Recipient: rfc822; eve@example.org\n"))
		b := bounce.Read(m)
		require.Equal(t, b, bounce.Read(m), "reading changes nothing")
		require.Len(t, b.Recipients, 1, "the first part is the report")
		return b.Recipients[0]
	}
	require.Equal(t, "bob@example.org", one("Original-Recipient: rfc822;bob@example.org\n").Final)
	const final = "Final-Recipient: rfc822; bob@example.org\n"
	require.Equal(t, "550 no such user", one(final+"Diagnostic-Code: smtp; 550 no\nsuch user\nX-Next: x\n").Diagnostic,
		"a line that is not folded")
	require.Equal(t, "550 no such user; try later",
		one(final+"Diagnostic-Code: 550 no such user; try later\n").Diagnostic, "no type")
	require.Equal(t, strings.Repeat("x", 500), one(final+"Diagnostic-Code: smtp; "+strings.Repeat("x", 500)+
		"\n").Diagnostic)
	require.Equal(t, strings.Repeat("x", 499)+"…", one(final+"Diagnostic-Code: smtp; "+strings.Repeat("x", 499)+
		"\u00e9\n").Diagnostic)
	for code, want := range map[string]mime.BounceAction{"2.1.5": mime.BounceDelivered, "4.4.1": mime.BounceDelayed,
		"5.1.1": mime.BounceFailed, "": mime.BounceFailed} {
		b := bounce.Read(parsed(t, report("ann@example.org", "report", status, final+"Status: "+code+"\n")))
		require.Equal(t, want, b.Recipients[0].Action, "without an action: %s", code)
	}
	for code, want := range map[string]mime.BounceReason{"5.1.1": mime.ReasonNoUser, "5.7.99": mime.ReasonRefused,
		"5.4.99": mime.ReasonNetwork, "5.9.9": mime.ReasonUnknown} {
		b := bounce.Read(parsed(t, report("ann@example.org", "report", status, final+"Action: failed\nStatus: "+code+"\n")))
		require.Equal(t, want, b.Recipients[0].Reason, code)
	}
	for address, want := range map[string]string{
		`utf-8; j\x{FC}rgen@x.example`:     "j\u00fcrgen@x.example",
		`rfc822; j\x{FC}rgen@x.example`:    `j\x{FC}rgen@x.example`,
		`utf-8; a\x{0A}\x{20}b@x.example`:  `a\x{0A} b@x.example`,
		`utf-8; a\x{110000}b@x.example`:    `a\x{110000}b@x.example`,
		`utf-8; a\x{D800}b@x.example`:      `a\x{D800}b@x.example`,
		`unknown; <bob@x.example> (Bob B)`: "bob@x.example",
	} {
		require.Equal(t, want, one("Final-Recipient: "+address+"\n").Final, address)
	}
}

func TestReceiptFields(t *testing.T) {
	const kind = "message/disposition-notification"
	read := func(fields string) *mime.Receipt {
		return parsed(t, report("ann@example.org", "report", kind, fields)).Receipt()
	}
	for disposition, want := range map[string]mime.Receipt{
		"manual-action/MDN-sent-manually; displayed":                       {Disposition: "displayed"},
		"automatic-action/MDN-sent-automatically; Processed/Error,,failed": {Disposition: "processed", Modifiers: []string{"error", "failed"}, Automatic: true, AutomaticAction: true},
		"automatic-action/MDN-sent-manually (c); deleted/":                 {Disposition: "deleted", AutomaticAction: true},
	} {
		require.Equal(t, &want, read("Disposition: "+disposition+"\n"), disposition)
	}
	require.Nil(t, read("no field\n"))
	require.Nil(t, parsed(t, report("ann@example.org", "mixed", kind, "Disposition: x/y; displayed\n")).Receipt())
	require.Nil(t, (&mime.Message{}).Receipt())
	raw := strings.TrimSuffix(report("ann@example.org", "report", kind, "Disposition: x/y; displayed\n"), "--b--\n") +
		"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <1@x.example>\n--b--\n"
	require.Equal(t, "1@x.example", parsed(t, raw).Receipt().OriginalMessageID, "that of the message returned")
}

func TestFeedbackFields(t *testing.T) {
	const kind = "message/feedback-report"
	read := func(fields string) *mime.Feedback {
		return parsed(t, report("ann@example.org", "report", kind, fields)).Feedback()
	}
	require.Equal(t, &mime.Feedback{Type: "abuse", Incidents: 1}, read("Feedback-Type: Abuse\n"))
	require.Equal(t, 1, read("Feedback-Type: abuse\nIncidents: -3\n").Incidents)
	require.Equal(t, 3, read("Feedback-Type: abuse\nIncidents: 3\n").Incidents)
	const date = "Sat, 21 Nov 2026 03:28:31 +0000\n"
	for _, fields := range []string{"Arrival-Date: " + date, "Received-Date: " + date, "Arrival-Date: " + date +
		"Received-Date: Sun, 22 Nov 2026 03:28:31 +0000\n"} {
		require.Equal(t, "2026-11-21", read(fields).Arrival.Format(time.DateOnly), fields)
	}
	require.Nil(t, read("no field\n"))
	require.Nil(t, parsed(t, report("ann@example.org", "mixed", kind, "Feedback-Type: abuse\n")).Feedback())
	require.Nil(t, (&mime.Message{}).Feedback())
}
