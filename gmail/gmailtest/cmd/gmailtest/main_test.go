package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestServe runs the program as a person does, and asks it as another language does.
func TestServe(t *testing.T) {
	mbox := filepath.Join(t.TempDir(), "mail.mbox")
	require.NoError(t, os.WriteFile(mbox, []byte("From a@example.com Sun Mar  1 12:00:00 2026\nSubject: Hi\n\nHello.\n"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int)
	var stderr strings.Builder
	go func() {
		done <- run(ctx, []string{
			"--listen", "127.0.0.1:0", "--mbox", mbox, "--sample", "--account", "ann@example.com", "--quota", "6000", "--concurrent", "10",
			"--push-topic", "projects/p1/topics/mail", "--push-url", "http://127.0.0.1:1/",
		}, in, &stderr)
	}()
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "Gmail of") {
			break
		}
	}
	require.Len(t, said, 3, stderr.String())
	require.Contains(t, said[1], "imported 1 messages of mbox:"+mbox)
	require.Contains(t, said[2], "Gmail of you@example.com, ann@example.com at http://127.0.0.1:")
	_, url, _ := strings.Cut(said[2], " at ")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"gmail/v1/users/me/messages?q=subject:Hi", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer anything")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(text), `"resultSizeEstimate": 1`)

	stop()
	require.Zero(t, <-done, stderr.String())
}

func TestWrongFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown flag: --port":      {"--port", "80"},
		"unknown command":           {"start"},
		"no-such.mbox":              {"--mbox", "no-such.mbox"},
		"Quota.PerMinute is -1":     {"--quota", "-1"},
		"is no address":             {"--listen", "127.0.0.1:0", "--account", "ann"},
		"projects/PROJECT/topics":   {"--listen", "127.0.0.1:0", "--push-url", "http://127.0.0.1:1/"},
		"PushTarget.URL is empty":   {"--listen", "127.0.0.1:0", "--push-topic", "projects/p1/topics/mail"},
		"listen tcp: address nowhe": {"--listen", "nowhere"},
	} {
		var stderr strings.Builder
		require.Equal(t, 1, run(t.Context(), args, io.Discard, &stderr), want)
		require.Contains(t, stderr.String(), want)
	}
}
