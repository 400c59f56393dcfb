package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	require.NoError(t, os.WriteFile(mbox, []byte("From a@example.com Sun Mar  1 12:00:00 2026\nSubject: Hi\n\nHello.\n"),
		0o600))
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

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		url+"gmail/v1/users/me/messages?q=subject:Hi", nil)
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
		"--client-id is missing":    {"--listen", "127.0.0.1:0", "--client-secret", "s"},
		"--push-url are missing":    {"--listen", "127.0.0.1:0", "--push-audience", "app"},
		"see gmailtest --help":      {"--port", "80"},
		"nobody\" is no address":    {"--listen", "127.0.0.1:0", "--email", "nobody"},
	} {
		var stderr strings.Builder
		require.Equal(t, 1, run(t.Context(), args, io.Discard, &stderr), want)
		require.Contains(t, stderr.String(), want)
		require.Equal(t, 1, strings.Count(stderr.String(), "gmailtest: "), stderr.String())
	}
}

// What comes in when the program is started again on its folder is pushed for the watch that is there.
func TestAWatchGoesOnAfterARestart(t *testing.T) {
	dir, mbox, pushed := t.TempDir(), filepath.Join(t.TempDir(), "mail.mbox"), make(chan string, 100)
	require.NoError(t, os.WriteFile(mbox, []byte("From a@example.com Sun Mar  1 12:00:00 2026\nSubject: Hi\n\nHello.\n"),
		0o600))
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { pushed <- r.URL.Path }))
	defer receiver.Close()

	url, stop := start(t, "--dir", dir)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"gmail/v1/users/me/watch",
		strings.NewReader(`{"topicName": "projects/p1/topics/mail"}`))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer anything")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
	stop()

	args := []string{"--dir", dir, "--mbox", mbox, "--push-topic", "projects/p1/topics/mail", "--push-url",
		receiver.URL + "/again"}
	for i := range 20 { // which takes a while
		args = append(args, "--account", fmt.Sprintf("a%d@example.com", i))
	}
	_, stop = start(t, args...)
	require.Equal(t, "/again", <-pushed)
	stop()
}

// start runs the program until stop is called.
func start(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int)
	var stderr strings.Builder
	go func() {
		done <- run(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), in, &stderr)
		_ = in.Close()
	}()
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), " at ")
	}
	return url, func() {
		t.Helper()
		cancel()
		require.Zero(t, <-done, stderr.String())
	}
}
