package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/mime"
)

// What mail programs write around the sender's own text, cut to what matters.
func TestSplitReplyHTML(t *testing.T) {
	for name, test := range map[string]struct {
		html                       string
		written, quoted, signature string
	}{
		"gmail": {
			html: `<div dir="ltr">Yes.<div><br></div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature"><div>Ada</div></div></div><br>` +
				`<div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Mon, Jan 5, 2026 at 10:00 AM Bob &lt;<a href="mailto:b@x.example">b@x.example</a>&gt; wrote:<br></div>` +
				`<blockquote class="gmail_quote" style="margin:0"><div>Ten?</div><blockquote>old</blockquote></blockquote></div>`,
			written: "Yes.", quoted: "Ten?\n\nold", signature: "--\nAda",
		},
		"gmail, answers between": {
			html: `<div class="gmail_quote"><div class="gmail_attr">On Monday Bob wrote:</div><blockquote class="gmail_quote">Ten?</blockquote>` +
				`<div>Yes.</div><blockquote class="gmail_quote">Cake?</blockquote><div>Eve.</div></div>`,
			written: "Yes.\n\nEve.", quoted: "Ten?\n\nCake?",
		},
		"gmail, forwarded": {
			html:    `<div>See below.</div><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br>From: Bob</div><div>Ten?</div></div>`,
			written: "See below.", quoted: "---------- Forwarded message ---------\nFrom: Bob\nTen?",
		},
		"gmail of old": {
			html: `<div dir="ltr">Yes.</div><div class="gmail_extra"><br><div class="gmail_quote">On 5 January 2026 10:00, Bob <span>&lt;b@x.example&gt;</span> wrote:<br>` +
				`<blockquote class="gmail_quote">Ten?</blockquote></div></div>`,
			written: "Yes.", quoted: "Ten?",
		},
		"outlook on the web": {
			html: `<div>Yes.</div><div id="Signature"><p>Ada</p></div><div id="appendonsend"></div><hr tabindex="-1"><div id="divRplyFwdMsg" dir="ltr">` +
				`<b>Von:</b> Bob<br><b>Gesendet:</b> Montag<br><b>Betreff:</b> X</div><div>Zehn?</div>`,
			written: "Yes.", signature: "Ada", quoted: "---\nVon: Bob\nGesendet: Montag\nBetreff: X\nZehn?",
		},
		"outlook": {
			html: `<p class=MsoNormal>Yes.</p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'>` +
				`<p class=MsoNormal><b>Ismeretlen:</b> Bob</p></div></div><p>Ten?</p>`,
			written: "Yes.", quoted: "Ten?",
		},
		"outlook without its style": {
			html:    `<p>Yes.</p><div><p><b>From:</b> Bob &lt;b@x.example&gt;<br><b>Sent:</b> Monday<br><b>To:</b> Ada<br><b>Subject:</b> X</p></div><p>Ten?</p>`,
			written: "Yes.", quoted: "Ten?",
		},
		"thunderbird": {
			html:    `<p>Yes.</p><div class="moz-cite-prefix">Am 05.01.26 um 10:00 schrieb Bob:<br></div><blockquote type="cite" cite="mid:x"><p>Zehn?</p></blockquote><p>Kuchen!</p><div class="moz-signature">-- <br>Ada</div>`,
			written: "Yes.\n\nKuchen!", quoted: "Zehn?", signature: "--\nAda",
		},
		"apple": {
			html:    `<div>Yes.</div><div>Sent from my iPhone</div><div><br><blockquote type="cite">On Jan 5, 2026, at 10:00, Bob wrote:<br></blockquote></div><blockquote type="cite"><div>Ten?</div></blockquote>`,
			written: "Yes.", quoted: "On Jan 5, 2026, at 10:00, Bob wrote:\n\nTen?", signature: "Sent from my iPhone",
		},
		"yahoo": {
			html:    `<div>Yes.</div><div id="yahoo_quoted_123" class="yahoo_quoted"><div>On Monday, Bob wrote:</div><div>Ten?</div></div>`,
			written: "Yes.", quoted: "On Monday, Bob wrote:\nTen?",
		},
		"indented": {
			html:    `<div>Yes:</div><blockquote style="margin:0 0 0 40px;border:none;padding:0px">ten</blockquote>`,
			written: "Yes:\n\nten",
		},
		"not closed": {
			html:    `<div>Yes.</div><blockquote type=cite>Ten?<div>Bob`,
			written: "Yes.", quoted: "Ten?\nBob",
		},
		"forged marks": {
			html:    "<div>\uF5A0</div>Yes.<div>\uF5A3</div> &#xF5A0; <div>&#xF5A3;</div>",
			written: "\uF5A0\nYes.\n\uF5A3\n\uF5A0\n\uF5A3",
		},
		"gmail, forwarded behind letters that are longer in lower case": {
			html:    `ȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺ<blockquote>a</blockquote><div class="gmail_quote"><div>Ten?</div></div>`,
			written: "ȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺ\n\na", quoted: "Ten?",
		},
		"a line break in a quotation": {
			html:    `<div>Yes.</div>Sure.<blockquote type="cite">Ten?<br>Eleven?</blockquote>`,
			written: "Yes.\nSure.", quoted: "Ten?\nEleven?",
		},
		"a tag of Word": {html: `<p>Yes<o:p></o:p>, ten.</p>`, written: "Yes, ten."},
		"a quote mark in a signature": {
			html:    `<div>Yes.</div><div class="moz-signature">Ada<br>&gt; engineer</div>`,
			written: "Yes.", signature: "Ada\n> engineer",
		},
		"other elements of such names": {html: `<p class="gmail_signature">Ada</p><ul id="Signature"><li>Eve</li></ul>`, written: "Ada\n\n- Eve"},
		"empty":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			reply := mime.SplitReplyHTML(test.html)
			require.Equal(t, test.written, reply.Written())
			require.Equal(t, test.quoted, reply.Quoted())
			require.Equal(t, test.signature, reply.Signature())
		})
	}
}

// Each mark of a mail program says it alone, whatever the text is, and for its element only.
func TestMarksOfMailPrograms(t *testing.T) {
	for tag, want := range map[string]mime.PassageKind{
		`<blockquote type="CITE">`:                             mime.Quoted,
		`<blockquote class="gmail_quote">`:                     mime.Quoted,
		`<blockquote class="protonmail_quote">`:                mime.Quoted,
		`<blockquote class="zmail_extra">`:                     mime.Quoted,
		`<div class="yahoo_quoted">`:                           mime.Quoted,
		`<div id="yahoo_quoted_1">`:                            mime.Quoted,
		`<div class="protonmail_quote">`:                       mime.Quoted,
		`<div class="moz-forward-container">`:                  mime.Quoted,
		`<div class="gmail_quote">`:                            mime.Quoted,
		`<div dir="ltr" class="gmail_attr">`:                   mime.Attribution,
		`<div class="moz-cite-prefix">`:                        mime.Attribution,
		`<div dir="ltr" class="x_gmail_signature">`:            mime.Signature,
		`<span class="gmail_signature">`:                       mime.Signature,
		`<div class="moz-signature">`:                          mime.Signature,
		`<pre class="moz-signature">`:                          mime.Signature,
		`<div class="protonmail_signature_block">`:             mime.Signature,
		`<div id="ms-outlook-mobile-signature" class="other">`: mime.Signature,
		`<div id="x_Signature">`:                               mime.Signature,
	} {
		name := strings.Trim(strings.Fields(tag)[0], "<>")
		reply := mime.SplitReplyHTML("<div>Yes.</div>" + tag + "Ten</" + name + "><div>Eve.</div>")
		require.Len(t, reply, 3, tag)
		require.Equal(t, want, reply[1].Kind, tag)
		require.Equal(t, "Ten", strings.TrimSpace(reply[1].Text), tag)
	}
	for _, tag := range []string{`<div id="appendonsend">`, `<div id="divRplyFwdMsg">`} {
		reply := mime.SplitReplyHTML("<div>Yes.</div>" + tag + "Bob</div><div>Ten?</div>")
		require.Equal(t, "Yes.", reply.Written(), tag)
		require.Equal(t, "Ten?", reply.Quoted(), tag)
	}
}

func TestMessageReply(t *testing.T) {
	for body, want := range map[string]string{
		"Content-Type: text/plain\n\nYes.\n\n> Ten?\n":                                  "Yes.",
		"Content-Type: text/html\n\n<p>Yes.</p><blockquote type=cite>Ten?</blockquote>": "Yes.",
	} {
		m, err := mime.ParseBytes([]byte("From: a@x.example\n"+body), nil)
		require.NoError(t, err)
		require.Equal(t, want, m.Reply().Written())
	}
}

// Taking a text apart takes a bounded multiple of its size: of most, little more than reading it does.
func TestMemoryOfRepliesIsBounded(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const size = 4 << 20
	for name, part := range map[string]string{
		"paragraphs": "<p>hi</p>", "lines": "x<br>", "quotations": "<blockquote type=cite>a</blockquote>b",
		"classes": "<div class='a a a a a a a a'>x</div>", "text": "a\n", "references": "&nGt;",
	} {
		t.Run(name, func(t *testing.T) {
			source := strings.Repeat(part, size/len(part))
			require.LessOrEqual(t, costtest.Allocated(func() { mime.SplitReplyHTML(source) }), 6*len(source))
			require.LessOrEqual(t, costtest.Allocated(func() { mime.SplitReply(source) }), 8*len(source))
			raw := []byte("Content-Type: text/html\n\n" + source)
			m, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
			require.LessOrEqual(t, costtest.Allocated(func() { m.Reply() }), 6*len(source))
		})
	}
}
