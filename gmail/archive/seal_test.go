package archive_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// Whichever byte of the header is another one, the object is damaged, and nobody looks for a key.
func TestADamagedHeaderIsNoMissingKey(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	w.encrypt()
	sealed, err := archive.Seal(w.archive, []byte(letter(1)))
	require.NoError(t, err)
	header := bytes.Index(sealed, []byte("\n--- ")) + len("\n--- ") + 43
	require.Greater(t, header, 150)
	for i := range header {
		harmed := bytes.Clone(sealed)
		harmed[i] ^= 1
		_, err := archive.Unseal(w.archive, harmed, 1<<20)
		require.ErrorIs(t, err, archive.ErrUnreadable, "byte %d of %q", i, sealed[:header])
	}
	for i := 1; i < header; i++ {
		_, err := archive.Unseal(w.archive, sealed[:i], 1<<20)
		require.ErrorIs(t, err, archive.ErrUnreadable, "%d bytes are left", i)
	}

	plain, err := age.Decrypt(bytes.NewReader(sealed), w.cfg.Keys[0])
	require.NoError(t, err, "age itself reads it")
	_, err = io.ReadAll(plain)
	require.NoError(t, err)
	old := w.cfg.Keys[0]
	w.cfg.Keys = nil
	w.encrypt()
	_, err = archive.Unseal(w.archive, sealed, 1<<20)
	require.ErrorIs(t, err, archive.ErrNoKey, "the key is another one")
	before, err := archive.SealBefore(old, []byte(letter(1)))
	require.NoError(t, err)
	_, err = archive.Unseal(w.archive, before, 1<<20)
	require.ErrorIs(t, err, archive.ErrNoKey)
	w.cfg.Keys = append(w.cfg.Keys, old)
	w.open()
	for _, object := range [][]byte{sealed, before} {
		content, err := archive.Unseal(w.archive, object, 1<<20)
		require.NoError(t, err)
		require.Equal(t, letter(1), string(content))
	}
}

func TestAMessageWithADamagedHeaderIsNamedAndWrittenAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db)
		w.encrypt()
		id := w.deliver(letter(1))[0]
		w.keep()
		w.rewrite(w.object(id), func(c []byte) []byte { c[len("age-encryption.org/v1\n-> X25519 ")] ^= 1; return c })
		w.run(archive.NewVerifyJob(w.account, true))
		require.Equal(t, 1, w.status().Faults)
		faults, err := w.archive.Faults(t.Context(), w.account, 10)
		require.NoError(t, err)
		require.Contains(t, faults[0].Reason, archive.ErrUnreadable.Error())
		require.NotContains(t, faults[0].Reason, "archive.key_file")
		w.keep()
		require.Zero(t, w.status().Faults)

		manifest := w.objects("/manifest/")[0]
		whole, err := os.ReadFile(manifest)
		require.NoError(t, err)
		w.rewrite(manifest, func(c []byte) []byte { c[len("age-encryption.org/v1\n-> X25519 ")+50] ^= 1; return c })
		_, err = w.archive.VerifyChain(t.Context(), w.account)
		require.ErrorIs(t, err, archive.ErrChain)
		require.False(t, errors.Is(err, archive.ErrNoKey))
		require.ErrorContains(t, err, filepath.Base(manifest))
		require.NoError(t, os.WriteFile(manifest, whole, 0o600))
		_, err = w.archive.VerifyChain(t.Context(), w.account)
		require.NoError(t, err)
	})
}
