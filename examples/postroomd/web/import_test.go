package web_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
)

const gmailFilters = `<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns='http://www.w3.org/2005/Atom' xmlns:apps='http://schemas.google.com/apps/2006'>
<entry><apps:property name='from' value='news@shop.example'/><apps:property name='label' value='Shops'/>
<apps:property name='shouldArchive' value='true'/></entry>
<entry><apps:property name='subject' value='lottery'/><apps:property name='shouldNeverSpam' value='true'/></entry>
</feed>`

// upload sends a file with the form of the import.
func (w *world) upload(name, text string, form map[string]string) reply {
	w.Helper()
	var b bytes.Buffer
	parts := multipart.NewWriter(&b)
	for field, value := range form {
		require.NoError(w, parts.WriteField(field, value))
	}
	file, err := parts.CreateFormFile("file", name)
	require.NoError(w, err)
	_, err = file.Write([]byte(text))
	require.NoError(w, err)
	require.NoError(w, parts.Close())
	return w.do(http.MethodPost, "rules/import", nil, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(&b), int64(b.Len())
		r.Header.Set("Content-Type", parts.FormDataContentType())
	})
}

// Filters of Gmail are imported: the page says what is taken and what is not, and saves it as one version after the
// rules that are there, whose comments stay.
func TestGmailsFiltersAreImported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte("# Mine.\nrules:\n  # The first.\n  - name: Notes\n"+
		"    condition: {type: subject_contains, value: note}\n    action: star\n"), 0o600))
	w := newWorldWith(t, path, func(c *config.Config) { c.Paths.Rules = config.Path(path) })
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{390: "dark", 1280: "light"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/import?mailbox=" + sample.Owner)
		if width == 1280 { // it looks at all of them
			fits(b, "import")
		}
		browsertest.Eval[any](b, `((text) => { document.querySelector("main textarea").value = text;
			document.querySelector("main form button").click(); })(`+"`"+gmailFilters+"`"+`)`)
		b.Until(`!!document.querySelector("#imported") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "imported")
		}
	}
	said := browsertest.Eval[string](b, `document.querySelector("#imported").textContent`)
	require.Contains(t, said, "Taken: one rule")
	require.Contains(t, said, "from news@shop.example")
	require.Contains(t, said, "filter 2: left out")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), "shop.example", "nothing is saved yet")
	browsertest.Eval[any](b, `document.querySelector("main [value=save]").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("as a new version")`)
	b.Quiet()
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "# Mine."), "%s", text)
	require.Contains(t, string(text), "# The first.")
	require.Less(t, strings.Index(string(text), "Notes"), strings.Index(string(text), "shop.example"))

	again := w.post("rules/import", url.Values{"mailbox": {sample.Owner}, "text": {gmailFilters}})
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.Contains(t, again.body, "among your rules already")
	require.Contains(t, again.body, "filter 2: left out")
}

// A Sieve script is uploaded; what cannot be read says why, and only who owns the mailbox imports.
func TestASieveScriptIsImported(t *testing.T) {
	w := newWorld(t)
	form := map[string]string{"mailbox": sample.Owner}
	taken := w.upload("x.sieve",
		"require \"fileinto\";\nif header :contains \"subject\" \"invoice\" { fileinto \"Bills\"; }\n", form)
	require.Equal(t, http.StatusOK, taken.status, taken.body)
	require.Contains(t, taken.body, "Taken: one rule")
	require.Contains(t, taken.body, "Bills")
	require.Contains(t, taken.body, `name="seen"`)
	faulty := w.upload("x.sieve", "if header {", form)
	require.Equal(t, http.StatusUnprocessableEntity, faulty.status)
	require.Contains(t, faulty.body, "Sieve script")
	require.Contains(t, w.upload("x.xml", "", form).body, "There is nothing to import")
	require.Equal(t, http.StatusRequestEntityTooLarge, w.upload("x.xml", strings.Repeat("x", 3<<20), form).status)
	w.withNeighbour()
	other := w.as(access.Person{Name: "bob@example.org", Role: access.Own, Mailboxes: []string{neighbour}})
	require.Equal(t, http.StatusForbidden, other.upload("x.sieve", "keep;", form).status)
	approver := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.Equal(t, http.StatusForbidden, approver.upload("x.sieve", "keep;", form).status)
}
