package authres_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// The forms of RFC 8601, sections 2.2 and B, and what the wild makes of them.
func TestParseAuthResults(t *testing.T) {
	for name, test := range map[string]struct {
		value string
		id    string
		want  []string
	}{
		"none":                      {"example.org 1; none", "example.org", nil},
		"nothing":                   {"example.org", "example.org", nil},
		"case":                      {"Example.ORG; SPF=Pass smtp.MailFrom=Ada@Example.com", "example.org", []string{"spf=pass smtp.mailfrom=Ada@Example.com"}},
		"several":                   {"x; auth=pass (cram-md5) smtp.auth=a@x; spf=fail smtp.mailfrom=x", "x", []string{"auth=pass (cram-md5) smtp.auth=a@x", "spf=fail smtp.mailfrom=x"}},
		"comments everywhere":       {"x (a(b)) 1 (c); (d) dkim (e) / (f) 1 (g) = (h) fail (i) policy (j) . (k) expired (l) = (m) 123", "x", []string{"dkim=fail (i) policy.expired=123"}},
		"reason":                    {`x; dkim=fail reason="bad; (really) = signature" header.d=y`, "x", []string{`dkim=fail reason="bad; (really) = signature" header.d=y`}},
		"quoted id":                 {`"x;y"; spf=pass`, "x;y", []string{"spf=pass"}},
		"semicolon in comment":      {"x; spf=pass (y; dmarc=pass) smtp.mailfrom=z", "x", []string{"spf=pass (y; dmarc=pass) smtp.mailfrom=z"}},
		"method of a later version": {"x; spf/2=pass; dkim/1=pass", "x", []string{"dkim=pass"}},
		"no result":                 {"x; spf; =pass; dkim=; dmarc=pass", "x", []string{"dmarc=pass"}},
		"property without dot":      {"x; spf=pass action=none smtp.mailfrom=y", "x", []string{"spf=pass smtp.mailfrom=y"}},
		"open comment":              {"x; spf=pass (y; dmarc=pass", "x", []string{"spf=pass"}},
		"no semicolon":              {"x 1 spf=pass; dkim=pass", "x", []string{"dkim=pass"}},
		"two words for a method":    {"x; s pf=pass; dkim=pass", "x", []string{"dkim=pass"}},
		"property without a value":  {"x; spf=pass smtp.mailfrom=; dkim=pass header.d=y", "x", []string{"spf=pass", "dkim=pass header.d=y"}},
		"open quote":                {`x; spf=pass reason="y dmarc=pass`, "x", []string{`spf=pass reason="y dmarc=pass"`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := authres.Parse(test.value)
			require.True(t, ok)
			require.Equal(t, test.id, got.ServID)
			var results []string
			for _, r := range got.Results {
				results = append(results, show(r))
			}
			require.Equal(t, test.want, results)
		})
	}
	for _, refused := range []string{"", ";", "spf=pass smtp.mailfrom=x", "(comment)", "example.org 2; spf=pass",
		"spf=pass; dkim=pass"} {
		_, ok := authres.Parse(refused)
		require.False(t, ok, refused)
	}
}

// One field cannot fill the memory.
func TestAuthResultsAreBounded(t *testing.T) {
	got, ok := authres.Parse("x" + strings.Repeat("; spf=pass", 1000))
	require.True(t, ok)
	require.Len(t, got.Results, 200)
	got, ok = authres.Parse("x; spf=pass" + strings.Repeat(" a.b=c", 1000) + "; dkim=pass")
	require.True(t, ok)
	require.Len(t, got.Results[0].Properties, 200)
	require.Equal(t, "dkim", got.Results[1].Method)
}

const pass = "Authentication-Results: mx.example.org; dmarc=pass header.from=shop.example\n"

// Where results stand decides whether they are the server's.
func TestAuthenticationTrustsPlaces(t *testing.T) {
	outside := "Received: from shop.example (x [192.0.2.1]) by mx.example.org with ESMTP; Mon, 5 Jan 2026 09:00:00 +0000\n"
	inside := "Received: from mx.example.org by store.example.org with LMTP; Mon, 5 Jan 2026 09:00:01 +0000\n"
	foreign := "Received: from a by mx.other.example; Mon, 5 Jan 2026 09:00:00 +0000\n"
	server := authres.Server{ID: "mx.example.org", Internal: []string{"store.example.org"}}
	below := authres.Server{ID: "mx.example.org", Below: true}
	for name, test := range map[string]struct {
		server authres.Server
		header string
		want   string
	}{
		"above":                               {server, pass + outside, "pass"},
		"above, several":                      {server, "Authentication-Results: mx.example.org; spf=fail\n" + pass + outside, "pass"},
		"above, behind an internal hop":       {server, inside + pass + outside, "pass"},
		"below, behind a hop without from":    {below, "Received: by mx.example.org with SMTP id x\n" + outside + pass, "pass"},
		"behind a hop that is not named":      {authres.Server{ID: "mx.example.org"}, inside + pass + outside, ""},
		"below":                               {server, outside + pass, ""},
		"below, of one that writes there":     {below, outside + pass, "pass"},
		"above wins over below":               {below, "Authentication-Results: mx.example.org; dmarc=fail\n" + outside + pass, "fail"},
		"below, not right below":              {below, outside + "Subject: x\n" + pass, ""},
		"below, behind another's":             {below, outside + "Authentication-Results: other; none\n" + pass, ""},
		"above the next Received":             {below, outside + foreign + pass, ""},
		"below a Received of another":         {below, foreign + pass + outside + pass, ""},
		"of another server":                   {server, strings.ReplaceAll(pass, "mx.example.org", "mx.other.example") + outside, ""},
		"of a server with a longer name":      {server, strings.ReplaceAll(pass, "mx.example.org", "mx.example.org.evil.example") + outside, ""},
		"a client that calls itself by":       {below, "Received: from by (by mx.example.org) by mx.other.example\n" + pass, ""},
		"a client that calls itself as we do": {below, "Received: from mx.example.org by mx.other.example\n" + pass, ""},
		"host and id differ":                  {authres.Server{ID: "example.org", Host: "in.example.net", Below: true}, "Received: from a by in.example.net\nAuthentication-Results: example.org; dmarc=pass\n", "pass"},
		"a field of another name":             {below, outside + "X-Results: mx.example.org; dmarc=pass\n", ""},
		"a field of another name above":       {server, "X-Results: mx.example.org; dmarc=pass\n" + outside, ""},
		"below, above another's Received":     {server, outside + pass + foreign, ""},
		"behind a hop of another":             {server, foreign + pass + outside, ""},
		"behind a hop that does not say by":   {authres.Server{ID: "mx.example.org", Internal: []string{""}}, "Received: from a with SMTP\n" + pass + outside, ""},
		"behind a hop that ends at by":        {server, "Received: from a by\n" + pass + outside, ""},
		"behind an empty hop":                 {server, "Received:\n" + pass + outside, "pass"},
		"the server in capitals":              {below, strings.ReplaceAll(outside, "mx.example.org", "MX.Example.ORG") + pass, "pass"},
		"a host below the server's name":      {below, strings.ReplaceAll(outside, "mx.example.org", "in1.mx.example.org") + pass, "pass"},
		"a host that ends like the server":    {below, strings.ReplaceAll(outside, "mx.example.org", "evilmx.example.org") + pass, ""},
		"words before by":                     {below, strings.ReplaceAll(outside, "by mx", "via TCP by mx") + pass, "pass"},
		"no id, and a field that names none":  {authres.Server{Host: "mx.example.org"}, `Authentication-Results: ""; dmarc=pass` + "\n" + outside, ""},
		"no id":                               {authres.Server{}, pass + outside, ""},
		"no Received":                         {below, pass, ""},
		"another's case":                      {server, strings.ReplaceAll(pass, "mx.example.org", "MX.Example.Org") + outside, "pass"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mime.ParseBytes([]byte(test.header+"From: a@shop.example\n\nx"), nil)
			require.NoError(t, err)
			require.Equal(t, test.want, authres.Read(m.Header, test.server).Result("dmarc"))
		})
	}
}

// A domain is verified by DMARC, or by SPF or DKIM in alignment.
func TestVerifies(t *testing.T) {
	for name, test := range map[string]struct {
		from    string
		results string
		want    bool
	}{
		"dmarc":                           {"a@shop.example", "dmarc=pass header.from=shop.example", true},
		"dmarc of another domain":         {"a@shop.example", "dmarc=pass header.from=evil.example", false},
		"dmarc of the parent":             {"a@mail.shop.example", "dmarc=pass header.from=shop.example", false},
		"dmarc without domain":            {"a@shop.example", "dmarc=pass", false},
		"dmarc of the envelope":           {"a@shop.example", "dmarc=pass smtp.from=shop.example", false},
		"no domain behind the at":         {"a@", "dmarc=pass", false},
		"a domain that is no host name":   {"a@Mail_1.Shop.Example", "dmarc=pass header.from=mail_1.shop.example", true},
		"dmarc fails, spf aligned":        {"a@shop.example", "dmarc=fail header.from=shop.example; spf=pass smtp.mailfrom=shop.example", false},
		"two results of dmarc":            {"a@shop.example", "dmarc=pass header.from=shop.example; dmarc=fail header.from=shop.example", false},
		"no policy, spf aligned":          {"a@shop.example", "dmarc=none header.from=shop.example; spf=pass smtp.mailfrom=b@bounce.shop.example", true},
		"no policy, dkim aligned":         {"a@news.shop.example", "dkim=pass header.d=shop.example", true},
		"dkim by identity":                {"a@shop.example", "dkim=pass header.i=@mail.shop.example", true},
		"dkim of the provider":            {"a@shop.example", "dkim=pass header.d=esp.example", false},
		"second dkim":                     {"a@shop.example", "dkim=pass header.d=esp.example; dkim=pass header.d=shop.example", true},
		"spf softfail":                    {"a@shop.example", "spf=softfail smtp.mailfrom=shop.example", false},
		"spf of helo":                     {"a@shop.example", "spf=pass smtp.helo=shop.example", false},
		"under a public suffix":           {"a@one.co.uk", "spf=pass smtp.mailfrom=two.co.uk", false},
		"under a private suffix":          {"a@one.github.io", "dkim=pass header.d=two.github.io", false},
		"idn":                             {"a@B\u00dcCHER.example", "dmarc=pass header.from=xn--bcher-kva.example", true},
		"case":                            {"a@Shop.Example", "dmarc=pass header.from=SHOP.example", true},
		"two ats":                         {"news@shop.example@evil.example", "dmarc=pass header.from=shop.example", false},
		"no domain":                       {"postmaster", "spf=pass smtp.mailfrom=postmaster", false},
		"exchange guesses":                {"a@shop.example", "dmarc=bestguesspass header.from=shop.example; spf=pass smtp.mailfrom=shop.example", true},
		"exchange guesses without a base": {"a@shop.example", "dmarc=bestguesspass header.from=shop.example", false},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, ok := authres.Parse("x; " + test.results)
			require.True(t, ok)
			a := authres.Findings{Results: parsed.Results}
			require.Equal(t, test.want, a.Verifies(mime.Address{Email: test.from}))
		})
	}
}

func TestVerifiedFromWantsOneSender(t *testing.T) {
	header := pass + "Received: from a by mx.example.org\n"
	server := authres.Server{ID: "mx.example.org"}
	for from, want := range map[string]bool{
		"From: a@shop.example\n":                           true,
		"From: a@shop.example, b@shop.example\n":           false,
		"From: a@shop.example\nFrom: eve@evil.example\n":   false,
		"From: \"a@shop.example\" <eve@evil.example>\n":    false,
		"From: eve@evil.example (a@shop.example)\n":        false,
		"Sender: a@shop.example\nFrom: eve@evil.example\n": false,
	} {
		m, err := mime.ParseBytes([]byte(header+from+"\nx"), nil)
		require.NoError(t, err)
		_, ok := authres.VerifiedFrom(m, server)
		require.Equal(t, want, ok, from)
	}
}

func TestOrganizationalDomain(t *testing.T) {
	for domain, want := range map[string]string{
		"mail.shop.example.com": "example.com", "a@b.example.co.uk": "example.co.uk", "co.uk": "co.uk", "localhost": "localhost",
		"X.Example.COM.": "example.com", "a.b.github.io": "b.github.io", "": "",
	} {
		require.Equal(t, want, authres.OrganizationalDomain(domain), domain)
	}
}

// A chain whose structure is wrong is told from one that only its signatures can refute.
func TestARCBroken(t *testing.T) {
	set := func(i, cv string) string {
		return "ARC-Seal: i=" + i + "; cv=" + cv + "; d=x.example; s=s\nARC-Message-Signature: i=" + i + "; d=x.example\n" +
			"ARC-Authentication-Results: i=" + i + "; x.example; spf=pass\n"
	}
	for name, test := range map[string]struct {
		header string
		sets   int
		broken string
	}{
		"none":                {"", 0, ""},
		"one":                 {set("1", "none"), 1, ""},
		"three, in any order": {set("2", "pass") + set("3", "pass") + set("1", "none"), 3, ""},
		"gap":                 {set("3", "pass") + set("1", "none"), 2, "instance 2 is not complete"},
		"twice":               {set("1", "none") + set("1", "none"), 1, "instance 1 has two of ARC-Authentication-Results"},
		"first passes":        {set("1", "pass"), 1, "instance 1 has cv=pass"},
		"second says none":    {set("2", "none") + set("1", "none"), 2, "instance 2 has cv=none"},
		"failed":              {set("2", "fail") + set("1", "none"), 2, "instance 2 has cv=fail"},
		"too long":            {set("51", "pass"), 0, "ARC-Authentication-Results without an instance from 1 to 50"},
		"longest":             {set("50", "pass"), 1, "instance 49 is not complete"},
		"negative":            {set("-1", "pass"), 0, "ARC-Authentication-Results without an instance from 1 to 50"},
		"not a number":        {set("x", "pass"), 0, "ARC-Authentication-Results without an instance from 1 to 50"},
		"other tags first":    {strings.ReplaceAll(set("1", "none"), "ARC-Seal: i=1;", "ARC-Seal: a=x; I = 1 ;"), 1, ""},
		"seal alone":          {"ARC-Seal: i=1; cv=none\n", 0, "instance 1 is not complete"},
		"no seal":             {strings.ReplaceAll(set("1", "none"), "ARC-Seal", "X"), 0, "instance 1 is not complete"},
		"no signature":        {strings.ReplaceAll(set("1", "none"), "ARC-Message-Signature", "X"), 0, "instance 1 is not complete"},
		"no results":          {strings.ReplaceAll(set("1", "none"), "ARC-Authentication-Results", "X"), 0, "instance 1 is not complete"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mime.ParseBytes([]byte(test.header+"From: a@shop.example\n\nx"), nil)
			require.NoError(t, err)
			chain := authres.ReadARC(m.Header)
			require.Len(t, chain.Sets, test.sets)
			require.Equal(t, test.broken, chain.Broken)
		})
	}
}

func TestARCTime(t *testing.T) {
	for value, want := range map[string]int64{"1767607200": 1767607200, "253402300799": 253402300799, "253402300800": 0,
		"0": 0, "-5": 0, "soon": 0} {
		m := parsedMail(t, "ARC-Seal: i=1; cv=none; t="+value+
			"\nARC-Message-Signature: i=1\nARC-Authentication-Results: i=1; x; none\n\n")
		sealed := authres.ReadARC(m.Header).Sets[0].Sealed
		if want == 0 {
			require.True(t, sealed.IsZero(), value)
		} else {
			require.Equal(t, want, sealed.Unix(), value)
		}
	}
}

// A method has its own result, whatever passed beside it; of several of its own, the worse counts.
func TestResultOfAMethod(t *testing.T) {
	results, ok := authres.Parse("x; spf=pass; dkim=fail header.d=a.example; dkim=pass header.d=b.example; dmarc=none; dmarc=fail; arc=fail")
	require.True(t, ok)
	a := authres.Findings{Results: results.Results}
	for method, want := range map[string]string{"spf": "pass", "dkim": "pass", "dmarc": "fail", "arc": "fail",
		"iprev": ""} {
		require.Equal(t, want, a.Result(method), method)
	}
}

func parsedMail(t *testing.T, raw string) *mime.Message {
	t.Helper()
	m, err := mime.ParseBytes([]byte(raw), nil)
	require.NoError(t, err)
	return m
}

// show writes a result down as servers do.
func show(r authres.Result) string {
	s := r.Method + "=" + r.Result
	if r.Reason != "" {
		s += " reason=" + strconv.Quote(r.Reason)
	}
	if r.Comment != "" {
		s += " (" + r.Comment + ")"
	}
	words := []string{s}
	for _, p := range r.Properties {
		words = append(words, p.Type+"."+p.Name+"="+p.Value)
	}
	return strings.Join(words, " ")
}

// A comment with the sender's words cannot add results: if it may end in two places, the field says nothing.
func TestCommentsAddNoResults(t *testing.T) {
	for value, want := range map[string]string{
		`x; spf=pass (domain of "a) smtp.mailfrom=x; dmarc=pass header.from=bank.example (b"@evil.example) smtp.mailfrom=y`: "",
		`x; spf=pass (domain of "a\"b); dmarc=pass (c"@evil.example) smtp.mailfrom=y; dmarc=fail`:                           "",
		`x; spf=pass (domain of "a); dmarc=pass`:                               "",
		`x; spf=pass (domain of "a b"@y.example designates 1); dmarc=pass (p)`: "pass",
		`x; spf=pass (a\"b); dmarc=pass`:                                       "pass",
	} {
		got, ok := authres.Parse(value)
		require.True(t, ok)
		require.Equal(t, want, authres.Findings{Results: got.Results}.Result("dmarc"), value)
	}
}

// Of two results of one method the worse counts, and DKIM has a result for each domain.
func TestTheWorseResultCounts(t *testing.T) {
	from := mime.Address{Email: "info@bank.example"}
	for value, want := range map[string]string{
		"x; dmarc=pass header.from=bank.example; dmarc=fail header.from=bank.example": "",
		"x; dmarc=fail header.from=bank.example; dmarc=pass header.from=bank.example": "",
		"x; dmarc=pass header.from=bank.example; dmarc=pass header.from=bank.example": "dmarc",
		"x; spf=pass smtp.mailfrom=bank.example; spf=fail smtp.mailfrom=y":            "",
		"x; dkim=pass header.d=bank.example; dkim=fail header.d=bank.example":         "",
		"x; dkim=fail header.d=list.example; dkim=pass header.d=bank.example":         "dkim",
	} {
		got, ok := authres.Parse(value)
		require.True(t, ok)
		found := authres.Findings{Results: got.Results}
		require.Equal(t, want != "", found.Verifies(from), value)
		if want != "" {
			require.Equal(t, "pass", found.Result(want), value)
		} else {
			require.Equal(t, "fail", found.Result(found.Results[0].Method), value)
		}
	}
}
