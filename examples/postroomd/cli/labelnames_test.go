package cli

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/queue"
)

// Gmail numbers the labels of each account from 1.
func TestLabelsOfTwoAccountsKeepTheirNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	ids := map[string]string{"ada@example.com": "", "bob@example.com": ""}
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for email := range ids {
			id, err := h.Mail.EnsureAccount(ctx, tx, email, time.Time{})
			if err != nil {
				return err
			}
			ids[email] = id
			if err := h.Mail.SaveLabel(ctx, tx, id, postroom.Label{ID: "Label_1", Name: "of " + email,
				Type: postroom.LabelUser}); err != nil {
				return err
			}
		}
		return nil
	}))
	names, err := h.LabelNames(t.Context())
	require.NoError(t, err)
	for email, id := range ids {
		require.Equal(t, "of "+email, names.Name(id, "Label_1"))
		require.Equal(t, "Label_9", names.Name(id, "Label_9"))
	}
}
