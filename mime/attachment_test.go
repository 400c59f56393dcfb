package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

func TestHasAttachment(t *testing.T) {
	multi := func(subtype, part string) string {
		return "Content-Type: multipart/" + subtype +
			"; boundary=b\n\n--b\nContent-Type: text/html\n\n<img src=\"cid:p\">\n--b\n" + part + "\n\nx\n--b--\n"
	}
	cases := map[string]struct {
		raw  string
		kind mime.AttachmentKind // empty: nothing is attached
	}{
		"nothing":                    {"Subject: x\n\ntext", ""},
		"a file":                     {multi("mixed", "Content-Type: application/pdf; name=a.pdf"), mime.KindFile},
		"a nameless file":            {multi("mixed", "Content-Type: application/pdf"), mime.KindFile},
		"an attached picture":        {multi("mixed", "Content-Type: image/png; name=a.png"), mime.KindFile},
		"a picture with an id":       {multi("related", "Content-Type: image/png\nContent-ID: <p>"), mime.KindPicture},
		"an inline picture":          {multi("related", "Content-Type: image/png\nContent-ID: <p>\nContent-Disposition: inline"), mime.KindPicture},
		"a picture to be saved":      {multi("mixed", "Content-Type: image/png\nContent-ID: <p>\nContent-Disposition: attachment"), mime.KindFile},
		"a PDF with an id":           {multi("mixed", "Content-Type: application/pdf\nContent-ID: <p>"), mime.KindFile},
		"an S/MIME signature":        {multi("signed", "Content-Type: application/pkcs7-signature; name=smime.p7s\nContent-Disposition: attachment"), mime.KindSignature},
		"an old S/MIME signature":    {multi("signed", "Content-Type: application/x-pkcs7-signature; name=smime.p7s"), mime.KindSignature},
		"a PGP signature":            {multi("signed", "Content-Type: application/pgp-signature; name=signature.asc"), mime.KindSignature},
		"a delivery report":          {multi("report", "Content-Type: message/delivery-status"), mime.KindReport},
		"a receipt":                  {multi("report", "Content-Type: message/disposition-notification"), mime.KindReport},
		"a complaint":                {multi("report", "Content-Type: message/feedback-report"), mime.KindReport},
		"the header of a message":    {multi("report", "Content-Type: text/rfc822-headers"), mime.KindReport},
		"the message reported on":    {multi("report", "Content-Type: message/rfc822\n\nSubject: y"), mime.KindReport},
		"a forwarded message":        {multi("mixed", "Content-Type: message/rfc822\n\nSubject: y"), mime.KindFile},
		"an invitation":              {multi("alternative", "Content-Type: text/calendar; method=REQUEST"), mime.KindCalendar},
		"an invitation as a file":    {multi("mixed", "Content-Type: application/ics; name=invite.ics\nContent-Disposition: attachment"), mime.KindCalendar},
		"an untyped invitation":      {multi("mixed", "Content-Type: application/octet-stream; name=Invite.ICS\nContent-Disposition: attachment"), mime.KindCalendar},
		"an untyped signature":       {multi("signed", "Content-Type: application/octet-stream; name=smime.p7s\nContent-Disposition: attachment"), mime.KindSignature},
		"an untyped PGP signature":   {multi("signed", "Content-Type: application/octet-stream; name=signature.asc"), mime.KindSignature},
		"a key":                      {multi("mixed", "Content-Type: application/octet-stream; name=key.asc"), mime.KindFile},
		"a PDF named like one":       {multi("mixed", "Content-Type: application/pdf; name=a.ics"), mime.KindFile},
		"a part that was not opened": {multi("mixed", "Content-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: multipart/mixed; boundary=d\n\n--d\n\nx\n--d--\n--c--"), mime.KindUnread},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := mime.Parse(strings.NewReader(c.raw), &mime.Limits{Depth: 3})
			require.NoError(t, err)
			named := strings.Contains(strings.ToLower(c.raw), "ics\n")
			require.Equal(t, c.kind == mime.KindFile || c.kind == mime.KindUnread || c.kind == mime.KindCalendar && named,
				m.HasAttachment())
			if c.kind == "" {
				require.Empty(t, m.Attachments)
				return
			}
			require.Len(t, m.Attachments, 1)
			require.Equal(t, c.kind, m.Attachments[0].Kind())
			require.True(t, m.HasAttachment(c.kind), "it is asked for")
		})
	}
}
