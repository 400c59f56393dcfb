package mime

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParameters(t *testing.T) {
	type params = map[string]string
	for name, c := range map[string]struct {
		field, value string
		params       params
		ok           bool
	}{
		"a value alone":                {"Text/Plain", "text/plain", nil, true},
		"a comment before the value":   {"(c) text/plain", "text/plain", nil, true},
		"comments and blanks":          {"text/plain (a) ;  (b) charset=(c) \"x\" (d) ; ;format=flowed", "text/plain", params{"charset": "x", "format": "flowed"}, true},
		"a comment behind a charset":   {"text/plain; charset=us-ascii (Plain (7-bit) text)", "text/plain", params{"charset": "us-ascii"}, true},
		"a comment before another":     {"text/plain; charset=us-ascii  (Plain; text); format=flowed", "text/plain", params{"charset": "us-ascii", "format": "flowed"}, true},
		"a file name in parentheses":   {"a/b; name=report (1)", "a/b", params{"name": "report (1)"}, false},
		"a comment that does not end":  {"text/plain (a; charset=x (b; y=z", "text/plain", params{"charset": "x (b", "y": "z"}, false},
		"one behind a charset":         {"text/plain; charset=x (a; y=z", "text/plain", params{"charset": "x", "y": "z"}, false},
		"a parenthesis in a boundary":  {"a/b; boundary=x(y)z", "a/b", params{"boundary": "x(y)z"}, false},
		"a name with a star":           {"a/b; filename*0=report (1)", "a/b", params{"filename": "report (1)"}, false},
		"the value is missing":         {"charset=utf-8", "", params{"charset": "utf-8"}, false},
		"a parameter without a name":   {"a/b; =x; y=z", "a/b", params{"y": "z"}, false},
		"no name before a section":     {"a/b; *0=x", "a/b", nil, false},
		"a parameter without a value":  {"text/html; iso-8859-1; charset=utf-8", "text/html", params{"charset": "utf-8"}, false},
		"the last without a value":     {"text/html; iso-8859-1", "text/html", nil, false},
		"an empty value":               {"a/b; x=; y=", "a/b", params{"x": "", "y": ""}, true},
		"more than the limit":          {"a/b; v=1; w=2; x=3; y=4; z=5", "a/b", params{"v": "1", "w": "2", "x": "3", "y": "4"}, false},
		"the first of equal names":     {"a/b; x=1; X=2", "a/b", params{"x": "1"}, false},
		"sections out of order":        {"a/b; x*1=b; x*10=c; x*0=a", "a/b", params{"x": "abc"}, true},
		"a section that is no number":  {"a/b; x*y=1", "a/b", params{"x*y": "1"}, true},
		"a negative section":           {"a/b; x*-1=1", "a/b", params{"x*-1": "1"}, true},
		"an extended one comes last":   {"a/b; x=plain; x*=utf-8''%C3%A9", "a/b", params{"x": "\u00e9"}, true},
		"an extended one comes first":  {"a/b; x*=utf-8''%C3%A9; x=plain", "a/b", params{"x": "\u00e9"}, true},
		"two extended ones":            {"a/b; x*=utf-8''a; x*=utf-8''b", "a/b", params{"x": "a"}, false},
		"an extended one and sections": {"a/b; x*=utf-8''a; x*0=b", "a/b", params{"x": "a"}, true},
		"percents in a plain section":  {"a/b; x*0*=utf-8''a%20; x*1=b%20", "a/b", params{"x": "a b%20"}, true},
		"quotes in a later section":    {"a/b; x*0*=utf-8''a; x*1*=b'c'd", "a/b", params{"x": "ab'c'd"}, true},
		"no charset before the text":   {"a/b; x*=%61b", "a/b", params{"x": "ab"}, true},
		"percents that are none":       {"a/b; x*=utf-8''100%25%zz%4", "a/b", params{"x": "100%%zz%4"}, true},
		"no such charset":              {"a/b; x*=none-such''a", "a/b", params{"x": "a"}, false},
		"8-bit of no charset":          {"a/b; x*=''%E9t%E9", "a/b", params{"x": "\u00e9t\u00e9"}, true},
		"a line break in the text":     {"a/b; x*=utf-8''a%0D%0Ab", "a/b", params{"x": "a b"}, true},
		"an encoded-word for a file":   {"a/b; name=\"=?utf-8?q?=C3=A9?=\"", "a/b", params{"name": "\u00e9"}, false},
		"an encoded-word in sections":  {"a/b; filename*0=\"=?utf-8?q?=\"; filename*1=\"C3=A9?=\"", "a/b", params{"filename": "\u00e9"}, false},
		"a broken word for a file":     {"a/b; filename=\"=?utf-8?b?!?=\"", "a/b", params{"filename": ""}, false},
		"an encoded-word elsewhere":    {"a/b; x=\"=?utf-8?q?=C3=A9?=\"", "a/b", params{"x": "=?utf-8?q?=C3=A9?="}, true},
	} {
		t.Run(name, func(t *testing.T) {
			value, params, ok := parseParams(c.field, 4, nil)
			require.Equal(t, c.value, value)
			require.Equal(t, c.params, params)
			require.Equal(t, c.ok, ok)
		})
	}
}
