package queueencrypt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/queueencrypt"
)

func key(id string) queueencrypt.Key {
	return queueencrypt.Key{ID: id, Secret: bytes.Repeat([]byte(id[:1]), 32)}
}

func TestKeysAreChecked(t *testing.T) {
	for text, keys := range map[string][]queueencrypt.Key{
		"queueencrypt: a codec needs a key":                              nil,
		"queueencrypt: Key(a): the Secret has 3 bytes; it must have 32":  {{ID: "a", Secret: []byte("abc")}},
		"queueencrypt: Key(): the ID has 0 bytes; it must have 1 to 100": {{Secret: key("a").Secret}},
		"queueencrypt: Key(a) is given twice":                            {key("a"), key("a")},
	} {
		_, err := queueencrypt.NewCodec(keys...)
		require.EqualError(t, err, text)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	var out strings.Builder
	k := key("a")
	c, err := queueencrypt.NewCodec(k)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		fmt.Fprintf(&out, verb+verb+verb, k, &k, c)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("keys", "key", k, "codec", c, "keys", []queueencrypt.Key{k})
	text, err := json.Marshal(k)
	require.NoError(t, err)
	out.Write(text)
	require.NotContains(t, out.String(), "aaaa")
	require.NotContains(t, out.String(), "6161")
	require.NotContains(t, out.String(), "YWFh")
	require.NotContains(t, out.String(), "97, 97")
	require.NotContains(t, out.String(), "0x61")
}

func FuzzDecode(f *testing.F) {
	c, err := queueencrypt.NewCodec(key("a"))
	require.NoError(f, err)
	good, err := c.Encode([]byte("plain"), "place")
	require.NoError(f, err)
	f.Add(good, "place")
	f.Add([]byte{}, "")
	f.Add([]byte{255, 1}, "x")
	f.Fuzz(func(t *testing.T, data []byte, place string) {
		plain, err := c.Decode(data, place)
		if err == nil { // only what another process of this test has encoded, under a nonce of its own
			require.Equal(t, "place", place)
			require.Equal(t, "plain", string(plain))
		}
	})
}
