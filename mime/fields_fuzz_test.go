package mime_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// A date that was read is the same when it is written as RFC 5322 wants it.
func FuzzParseDate(f *testing.F) {
	for _, value := range []string{
		"Fri, 21 Nov 1997 09:55:06 -0600", "21 Nov 97 9:55 GMT", "Fri Nov 21 09:55:06 1997", "1997-11-21T09:55:06+01:00", "Sat Nov 21 09:55:06 EST 1997",
		"Fri, 21 Nov 1997 (a (nested) comment) 09 : 55 : 06 -0600 (CST)", "029 Feb 2024 23:59:60 +2359", "1-jan-099 12:00am", "Tue, 1 Jan 2002 1:2:3pm z", "1 Feb 00 0:0 +2370",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		date, ok := mime.ParseDate(value)
		if !ok {
			require.Zero(t, date)
			return
		}
		require.GreaterOrEqual(t, date.Year(), 1900)
		if date.Year() > 9999 { // a leap second at the end
			return
		}
		again, ok := mime.ParseDate(date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
		require.True(t, ok)
		require.True(t, date.Equal(again), "%v is read as %v", date, again)
		again, ok = mime.ParseDate(date.Format(time.RFC3339))
		require.True(t, ok)
		require.True(t, date.Equal(again), "%v is read as %v", date, again)
	})
}

// What is read of a list is one line each, and a list that is right can be added to.
func FuzzParseAddresses(f *testing.F) {
	for _, value := range []string{
		`Ada <ada@example.com>, "B, C" <b@example.com>`, "a@b (Name), c@d", "friends: a@b, =?utf-8?q?=C3=84?= <c@d>;", "undisclosed-recipients:;",
		"<@a,@b:c@d>, <<e@f>>", `"open <a@b>, (open, c@d`, "a @ b . c", "Ada <ada@example.com> Bob <bob@example.com>", "=?utf-8?q?a,_b?= <a@b>; c@d",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		addresses, ok := mime.ParseAddresses(value)
		for _, a := range addresses {
			require.NotEmpty(t, a.Email)
			for _, text := range []string{a.Name, a.Email, a.Group} {
				requireLine(t, text)
			}
		}
		if !ok {
			return
		}
		more, ok := mime.ParseAddresses(value + ", last@example.com")
		require.True(t, ok)
		require.Len(t, more, len(addresses)+1)
		require.Equal(t, "last@example.com", more[len(more)-1].Email)
		require.True(t, slices.Equal(addresses, more[:len(addresses)]))
	})
}

// Parameters have names in lower case and values of one line, and what a type is does not depend on them.
func FuzzParameters(f *testing.F) {
	for _, value := range []string{
		`text/plain; charset="utf-8"; format=flowed`, "application/pdf; name*=utf-8''%e2%82%ac.pdf",
		"a/b; name*0=a; name*1*=%20; name*10=b; name*2=c",
		`a/b; name="open; c=d`, "a/b (comment); (open; c=d", "multipart/mixed boundary=x", "; name=x.zip",
		"a/b; name=my file.txt charset=x",
		"text; =; ;; x==y", "a/b; name==?utf-8?q?x?=", "a/b; *=x; *0=y; *1*=z; filename*=''x; filename*=b''%",
		`a/b; x="\"\\"`,
	} {
		f.Add(value)
	}
	typed := regexp.MustCompile(`^[!-~]+/[!-~]+$`)
	f.Fuzz(func(t *testing.T, value string) {
		if strings.ContainsAny(value, "\r\n") {
			return // another line of the header
		}
		m, err := mime.ParseBytes([]byte("Content-Disposition: "+value+"\nContent-Type: "+value+"\n\n"), nil)
		require.NoError(t, err)
		require.Regexp(t, typed, m.Root.ContentType)
		requireLine(t, m.Root.Filename)
		requireLine(t, m.Root.Disposition)
		for name, text := range m.Root.Params {
			require.NotEmpty(t, name)
			require.Equal(t, strings.ToLower(name), name)
			if name == "name" || name == "filename" {
				requireLine(t, text)
			}
		}
	})
}

// Ids have no blanks and no brackets around them, and are read from what they are written as.
func FuzzParseMessageIDs(f *testing.F) {
	for _, value := range []string{"<a@b> <c@d>", "a@b c@d", "<a @ b>", "Your message <a@b> of \"today\"", "<<a@b>>",
		"<a@b", "<>", "a>b", "<a\u00a0b>", "<\xc2  \xa0>"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		ids := mime.ParseMessageIDs(value)
		for _, id := range ids {
			require.NotEmpty(t, id)
			require.NotEqual(t, byte('<'), id[0])
			require.NotContains(t, id, ">")
			require.Len(t, strings.Fields(id), 1)
		}
		again := mime.ParseMessageIDs("<" + strings.Join(ids, "> <") + ">")
		require.True(t, slices.Equal(ids, again), "%q is read as %q", ids, again)
	})
}

// requireLine refuses what a program could not copy into a header.
func requireLine(t *testing.T, s string) {
	t.Helper()
	require.True(t, utf8.ValidString(s) && !strings.ContainsAny(s, "\r\n\x00"), "not one line of UTF-8: %q", s)
}
