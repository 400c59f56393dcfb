package gmail

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

const (
	testTopic    = "projects/tests/topics/mail"
	testAudience = "https://example.com/push"
	testSigner   = "push@tests.iam.gserviceaccount.com"
)

func (w *world) receiver(logged *logs) *Receiver {
	w.t.Helper()
	r, err := NewReceiver(ReceiverConfig{Queue: w.queue, Store: w.store, Logger: logged.logger()})
	require.NoError(w.t, err)
	return r
}

// The whole way: Gmail is asked to publish, publishes a change, and the job that reads it is there when the push is
// acknowledged.
func TestPushBecomesAJob(t *testing.T) {
	w := newWorld(t)
	w.synced()
	var logged logs
	handler, err := NewPushHandler(PushConfig{
		Receiver: w.receiver(&logged), Audience: testAudience, ServiceAccount: testSigner, Logger: logged.logger(),
		Issuers: []string{strings.TrimSuffix(w.server.URL(), "/")}, KeysURL: w.server.URL() + "oauth2/v3/certs",
	})
	require.NoError(t, err)
	statuses := make(chan int, 10)
	program := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		rw.WriteHeader(recorder.Code)
		statuses <- recorder.Code
	}))
	t.Cleanup(program.Close)
	require.NoError(t, w.server.PushTo(gmailtest.PushTarget{
		Topic: testTopic, URL: program.URL, Audience: testAudience, ServiceAccount: testSigner,
	}))
	w.cfg.Topic = testTopic
	job := w.job(w.run(NewWatchJob(w.account)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.WithinDuration(t, time.Now().Add(7*24*time.Hour), w.state().WatchExpiresAt, time.Hour)
	require.Equal(t, http.StatusNoContent, <-statuses, "Gmail publishes once at the beginning")
	w.run()

	id := w.arrive(plainMail, "INBOX")
	require.Equal(t, http.StatusNoContent, <-statuses)
	require.Equal(t, 1, w.jobs("history.sync.gmail")[queue.StateQueued])
	w.run()
	require.Equal(t, []string{id}, w.seen)
	require.Empty(t, logged.lines)
	require.Equal(t, 1, w.server.Counts()[gmailtest.OAuthKeys], "the keys are kept")
}

func TestWatchTakesThePlaceOfAnother(t *testing.T) {
	w := newWorld(t)
	_, err := w.google.Users.Watch("me", &api.WatchRequest{TopicName: "projects/tests/topics/other"}).Do()
	require.NoError(t, err)
	w.cfg.Topic = testTopic
	for range 2 { // the second one renews it
		job := w.job(w.run(NewWatchJob(w.account)))
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		require.Zero(t, job.Failures)
	}
	require.Equal(t, 1, w.server.Counts()[gmailtest.Stop])
	require.False(t, w.state().WatchExpiresAt.IsZero())
}

func TestTopicIsChecked(t *testing.T) {
	w := newWorld(t)
	w.cfg.Topic = "mail"
	_, err := w.cfg.withDefaults()
	require.ErrorContains(t, err, `Config.Topic is "mail"`)
}

// A testSigning is an issuer of tokens.
type testSigning struct {
	*httptest.Server
	key     *rsa.PrivateKey
	fetches atomic.Int32
	down    atomic.Bool
}

func newTestSigning(t *testing.T) *testSigning {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	s := &testSigning{key: key}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		s.fetches.Add(1)
		if s.down.Load() {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"keys": []any{
			map[string]string{"kty": "EC", "kid": "other"},
			map[string]string{
				"kty": "RSA", "kid": "k1", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
				"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
			},
		}})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *testSigning) token(t *testing.T, change func(header, claims map[string]any)) string {
	t.Helper()
	header := map[string]any{"alg": "RS256", "kid": "k1"}
	claims := map[string]any{
		"iss": "https://accounts.google.com", "aud": testAudience, "email": testSigner, "email_verified": true,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	if change != nil {
		change(header, claims)
	}
	var parts []string
	for _, part := range []map[string]any{header, claims} {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, ".")))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	return strings.Join(append(parts, base64.RawURLEncoding.EncodeToString(signature)), ".")
}

func (w *world) pushHandler(signing *testSigning, logged *logs) *PushHandler {
	w.t.Helper()
	h, err := NewPushHandler(PushConfig{
		Receiver: w.receiver(logged), Audience: testAudience, ServiceAccount: testSigner, KeysURL: signing.URL,
		Logger: logged.logger(),
	})
	require.NoError(w.t, err)
	return h
}

func push(h http.Handler, token string, body io.Reader) int {
	r := httptest.NewRequest(http.MethodPost, "/push", body)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder.Code
}

func pushBody(data string) io.Reader {
	return strings.NewReader(`{"message":{"data":"` + base64.StdEncoding.EncodeToString([]byte(data)) +
		`","messageId":"1"},"subscription":"s"}`)
}

func TestPushWithABadTokenIsRefused(t *testing.T) {
	w := newWorld(t)
	signing, other := newTestSigning(t), newTestSigning(t)
	var logged logs
	h := w.pushHandler(signing, &logged)
	claim := func(name string, value any) string {
		return signing.token(t, func(_, claims map[string]any) { claims[name] = value })
	}
	good := signing.token(t, nil)
	tests := map[string]string{
		"none":               "",
		"no token":           "abc",
		"another's key":      other.token(t, nil),
		"altered":            good[:len(good)-8] + "AAAAAAAA",
		"unsigned":           signing.token(t, func(header, _ map[string]any) { header["alg"] = "none" }),
		"signed by a secret": signing.token(t, func(header, _ map[string]any) { header["alg"] = "HS256" }),
		"unknown key":        signing.token(t, func(header, _ map[string]any) { header["kid"] = "k2" }),
		"another audience":   claim("aud", "https://example.com/other"),
		"another issuer":     claim("iss", "https://example.com"),
		"another account":    claim("email", "somebody@example.com"),
		"unverified account": claim("email_verified", false),
		"expired":            claim("exp", time.Now().Add(-time.Hour).Unix()),
		"of the future":      claim("iat", time.Now().Add(time.Hour).Unix()),
		"without an end":     claim("exp", 0),
		"not valid yet":      claim("nbf", time.Now().Add(time.Hour).Unix()),
		"with an unknown extension": signing.token(t, func(header, _ map[string]any) {
			header["crit"], header["x-bound"] = []string{"x-bound"}, true
		}),
		"with no extension that is critical": signing.token(t, func(header, _ map[string]any) { header["crit"] = []string{} }),
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, http.StatusUnauthorized,
				push(h, token, pushBody(`{"emailAddress":"`+w.server.Email()+`","historyId":7}`)))
		})
	}
	require.Empty(t, w.jobs("history.sync.gmail"))
	require.Len(t, logged.lines, len(tests))
	require.EqualValues(t, 1, signing.fetches.Load(), "unknown keys do not make the handler ask each time")
	require.Equal(t, http.StatusMethodNotAllowed, func() int {
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/push", nil))
		return recorder.Code
	}())
}

func TestPushesAreRead(t *testing.T) {
	tests := []struct {
		name, body string
		jobs       int
		logged     bool
	}{
		{"number", `{"emailAddress":"EMAIL","historyId":1234}`, 1, false},
		{"string", `{"emailAddress":"EMAIL","historyId":"1234"}`, 1, false},
		{"no id", `{"emailAddress":"EMAIL"}`, 1, false},
		{"another's mailbox", `{"emailAddress":"nobody@example.com","historyId":1234}`, 0, true},
		{"no address", `{"historyId":1234}`, 0, true},
		{"id that is none", `{"emailAddress":"EMAIL","historyId":-1}`, 0, true},
		{"huge id", `{"emailAddress":"EMAIL","historyId":18446744073709551615}`, 0, true},
		{"no JSON", `EMAIL`, 0, true},
		{"nothing", ``, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			signing := newTestSigning(t)
			var logged logs
			h := w.pushHandler(signing, &logged)
			for range 2 { // delivered twice
				body := pushBody(strings.ReplaceAll(tt.body, "EMAIL", w.server.Email()))
				require.Equal(t, http.StatusNoContent, push(h, signing.token(t, nil), body))
			}
			require.Equal(t, tt.jobs, w.jobs("history.sync.gmail")[queue.StateQueued])
			require.Equal(t, tt.logged, len(logged.lines) > 0)
		})
	}
	w := newWorld(t)
	signing := newTestSigning(t)
	var logged logs
	h := w.pushHandler(signing, &logged)
	for _, body := range []io.Reader{strings.NewReader(`{"message":7}`),
		strings.NewReader(strings.Repeat(" ", maxPush+1))} {
		require.Equal(t, http.StatusNoContent, push(h, signing.token(t, nil), body))
	}
	require.Len(t, logged.lines, 2)
}

// However many notifications come while an account is paused, one sync waits.
func TestNotificationsOfAPausedAccount(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.synced()
		r := w.receiver(new(logs))
		pause(t, w.store, w.queue, w.account, "")
		id := w.arrive(plainMail, "INBOX")
		for i := range uint64(20) {
			require.NoError(t, r.Receive(t.Context(), w.notification(w.latest()+i)))
		}
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs("history.sync.gmail"))
		resume(t, w.store, w.queue, w.account)
		w.run()
		require.Equal(t, []string{id}, w.seen)
		require.NoError(t, r.Receive(t.Context(), w.notification(w.latest())))
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 1}, w.jobs("history.sync.gmail"),
			"it tells of what has been read")
	})
}

// A notification that comes while a sync runs, which may have read the history before, is not lost: one more sync
// waits.
func TestNotificationsWhileASyncRuns(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.synced()
		r := w.receiver(new(logs))
		var late string
		var once sync.Once
		var waiting map[queue.State]int
		w.wire.After = func(r2 *http.Request, _ *http.Response) {
			if !strings.HasSuffix(r2.URL.Path, "/history") {
				return
			}
			once.Do(func() { // the history is read, and the sync has not ended
				pause(t, w.store, w.queue, w.account, "") // so that nothing else begins
				late = w.arrive(plainMail, "INBOX")
				for i := range uint64(5) {
					require.NoError(t, r.Receive(t.Context(), w.notification(w.latest()+i)))
				}
				waiting = w.jobs("history.sync.gmail")
			})
		}
		w.run(NewHistorySyncJob(w.account, 0))
		require.Equal(t, map[queue.State]int{queue.StateRunning: 1, queue.StateQueued: 1}, waiting)
		resume(t, w.store, w.queue, w.account)
		w.run()
		require.Equal(t, []string{late}, w.seen)
	})
}

func (w *world) notification(historyID uint64) []byte {
	return fmt.Appendf(nil, `{"emailAddress":%q,"historyId":%d}`, w.server.Email(), historyID)
}

// A push that cannot be stored is delivered again, and so is one whose token cannot be verified for want of keys.
func TestPushThatCannotBeTakenNow(t *testing.T) {
	w := newWorld(t)
	signing := newTestSigning(t)
	var logged logs
	h := w.pushHandler(signing, &logged)
	body := func() io.Reader { return pushBody(`{"emailAddress":"` + w.server.Email() + `","historyId":7}`) }
	signing.down.Store(true)
	require.Equal(t, http.StatusServiceUnavailable, push(h, signing.token(t, nil), body()))
	signing.down.Store(false)
	require.Equal(t, http.StatusNoContent, push(h, signing.token(t, nil), body()))
	w.exec(`ALTER TABLE accounts RENAME TO elsewhere`)
	require.Equal(t, http.StatusServiceUnavailable, push(h, signing.token(t, nil), body()))
}

// A caller that has gone does not keep the keys from being fetched: whoever has no token could keep new ones away
// like that.
func TestKeysAreFetchedForTheNextPushToo(t *testing.T) {
	w := newWorld(t)
	signing := newTestSigning(t)
	var logged logs
	h := w.pushHandler(signing, &logged)
	gone, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(gone, http.MethodPost, "/push", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+signing.token(t, func(header, _ map[string]any) { header["kid"] = "k2" }))
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	require.NotEqual(t, http.StatusNoContent, recorder.Code)
	require.Equal(t, http.StatusNoContent, push(h, signing.token(t, nil), pushBody(`{}`)))
	require.EqualValues(t, 1, signing.fetches.Load())
}

// Keys that are slow to come are fetched once for all. Each caller waits as long as its own context lasts.
func TestKeysThatAreSlowToCome(t *testing.T) {
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	signing := newTestSigning(t)
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-answer
		signing.Config.Handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(slow.Client().CloseIdleConnections)
	keys := &keyCache{url: slow.URL, client: slow.Client()}
	verify := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := keys.verify(ctx, signing.token(t, nil))
			ended <- err
		}()
		return ended
	}
	impatient, leave := context.WithCancelCause(t.Context())
	first := verify(impatient)
	<-asked
	second := verify(t.Context())
	leave(errors.New("enough"))
	err := <-first
	require.ErrorIs(t, err, errNoKeys)
	require.ErrorContains(t, err, "enough")
	close(answer)
	require.NoError(t, <-second)
	require.NoError(t, <-verify(t.Context()))
	require.EqualValues(t, 1, signing.fetches.Load())
}

func TestPushConfigIsChecked(t *testing.T) {
	_, err := NewPushHandler(PushConfig{})
	for _, field := range []string{"Receiver", "Audience", "ServiceAccount"} {
		require.ErrorContains(t, err, "gmail: PushConfig."+field)
	}
	_, err = NewReceiver(ReceiverConfig{})
	for _, field := range []string{"Queue", "Store"} {
		require.ErrorContains(t, err, "gmail: ReceiverConfig."+field)
	}
}

func FuzzParseNotification(f *testing.F) {
	f.Add([]byte(`{"emailAddress":"me@example.com","historyId":"12"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := ParseNotification(data); err == nil {
			require.Contains(t, n.Email, "@")
		}
	})
}
