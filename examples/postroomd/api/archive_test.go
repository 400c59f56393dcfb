package api_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestTheArchiveIsShownCopiedAndVerified(t *testing.T) {
	const path = "/mailboxes/" + sample.Owner + "/archive"
	for engine, database := range map[string]func(testing.TB) string{
		"sqlite": func(testing.TB) string { return "" }, "postgres": dbtest.PostgresDSN,
	} {
		t.Run(engine, func(t *testing.T) {
			w := newWorldWith(t, database(t), func(c *config.Config) {
				c.Archive.URL = "file://" + filepath.Join(t.TempDir(), "kept")
			}, letter)
			v := call[mailarchive.View](w, "GET", path, "", http.StatusOK)
			require.Zero(t, v.Messages)
			require.Equal(t, sample.Owner, v.Mailbox)

			started := call[map[string]any](w, "POST", path+"/run", "", http.StatusOK)
			require.NotEmpty(t, started["job_id"])
			require.Equal(t, true, call[map[string]any](w, "POST", path+"/run", "", http.StatusOK)["already"])
			w.work()
			v = call[mailarchive.View](w, "GET", path, "", http.StatusOK)
			require.Equal(t, 1, v.Messages)
			require.Len(t, v.Months, 1)
			require.Equal(t, 1, v.Months[0].Messages)
			require.Equal(t, v.Bytes, v.Months[0].Bytes)
			require.NotEmpty(t, v.Head)
			require.True(t, v.VerifiedAt.IsZero())
			require.Empty(t, v.Fault)

			call[map[string]any](w, "POST", path+"/verify", `{"all": true}`, http.StatusOK)
			w.work()
			require.False(t, call[mailarchive.View](w, "GET", path, "", http.StatusOK).VerifiedAt.IsZero())
		})
	}
	off := newWorld(t)
	require.Contains(t, call[problem](off, "GET", path, "", http.StatusUnprocessableEntity).Detail, "archive.url")
	call[problem](off, "POST", path+"/run", "", http.StatusUnprocessableEntity)
}
