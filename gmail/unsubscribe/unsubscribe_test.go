package unsubscribe_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/queue"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list is the server of a mailing list, which records what it is asked.
type list struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newList(t *testing.T, answer http.HandlerFunc) *list {
	t.Helper()
	l := &list{}
	l.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.asked = append(l.asked, r.Method+" "+r.URL.Path+" "+string(body)+" "+r.Header.Get("Cookie")+r.Header.Get("Referer"))
		l.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *list) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

type messages map[string]*postroom.Message

func (m messages) Message(_ context.Context, _, id string) (*postroom.Message, error) {
	if m[id] == nil {
		return nil, postroom.ErrNotFound
	}
	return m[id], nil
}

// newsletter is a message whose offer is signed, as Gmail stores it.
func newsletter(address string) *postroom.Message {
	return &postroom.Message{ID: "m", From: postroom.Address{Email: "news@shop.example"}, Headers: []postroom.Header{
		{Name: "Received", Value: "from mail.shop.example by mx.google.com with ESMTPS id x; Fri, 27 Nov 2026 02:00:00 -0800"},
		{Name: "Authentication-Results", Value: "mx.google.com; dkim=pass header.i=@shop.example header.s=s header.b=AbCd"},
		{Name: "DKIM-Signature", Value: "v=1; d=shop.example; s=s; h=from:list-unsubscribe:list-unsubscribe-post; b=AbCdEf"},
		{Name: "List-Id", Value: "Socks <socks.shop.example>"},
		{Name: "List-Unsubscribe", Value: "<" + address + ">, <mailto:leave@shop.example>"},
		{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}}
}

func newLeaver(t *testing.T, l *list) *unsubscribe.Leaver {
	t.Helper()
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: messages{}, Transport: l.Client().Transport})
	require.NoError(t, err)
	return leaver
}

// isFatal reports whether a job that returns the error fails at once.
func isFatal(err error) bool { return assert.ObjectsAreEqual(queue.Fatal(errors.Unwrap(err)), err) }

func TestLeave(t *testing.T) {
	l := newList(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		w.WriteHeader(http.StatusAccepted)
	})
	leaver := newLeaver(t, l)
	offer := leaver.Read(newsletter(l.URL + "/u?token=secret"))
	require.NoError(t, offer.Refused)
	require.Equal(t, "socks.shop.example", offer.ListID)
	require.Equal(t, "shop.example", offer.SignedBy)
	require.Len(t, offer.Mail, 1)
	for range 2 {
		receipt, err := leaver.Leave(t.Context(), offer)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, receipt.Status)
	}
	require.Equal(t, []string{"POST /u List-Unsubscribe=One-Click ", "POST /u List-Unsubscribe=One-Click "}, l.requests(),
		"the second without the cookie of the first")
}

func TestWhatIsNotOfferedIsNotAsked(t *testing.T) {
	l := newList(t, func(http.ResponseWriter, *http.Request) {})
	leaver := newLeaver(t, l)
	for name, tt := range map[string]struct {
		change func(m *postroom.Message)
		want   error
	}{
		"no one click": {func(m *postroom.Message) { m.Headers = m.Headers[:5] }, unsubscribe.ErrNotOffered},
		"not signed": {func(m *postroom.Message) {
			m.Headers[1].Value = "mx.google.com; dkim=fail header.i=@shop.example header.b=AbCd"
		}, unsubscribe.ErrNotSigned},
		"not covered": {func(m *postroom.Message) { m.Headers[2].Value = "v=1; d=shop.example; s=s; h=from; b=AbCdEf" }, unsubscribe.ErrNotSigned},
		"others' results": {func(m *postroom.Message) {
			m.Headers[1].Value = strings.Replace(m.Headers[1].Value, "mx.google.com", "mx.shop.example", 1)
		}, unsubscribe.ErrNotSigned},
		"http": {func(m *postroom.Message) {
			m.Headers[4].Value = strings.Replace(m.Headers[4].Value, "https", "http", 1)
		}, unsubscribe.ErrNotOffered},
		"a user": {func(m *postroom.Message) {
			m.Headers[4].Value = strings.Replace(m.Headers[4].Value, "https://", "https://bank@", 1)
		}, unsubscribe.ErrAddress},
	} {
		t.Run(name, func(t *testing.T) {
			m := newsletter(l.URL + "/u")
			tt.change(m)
			offer := leaver.Read(m)
			require.ErrorIs(t, offer.Refused, tt.want)
			require.Nil(t, offer.OneClick)
			_, err := leaver.Leave(t.Context(), offer)
			require.ErrorIs(t, err, tt.want)
			require.True(t, isFatal(err))
		})
	}
	require.Empty(t, l.requests())
}

func TestAHostileServerOfAList(t *testing.T) {
	other := newList(t, func(http.ResponseWriter, *http.Request) {})
	redirect := func(status int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/left" {
				http.Redirect(w, r, to, status)
			}
		}
	}
	for name, tt := range map[string]struct {
		answer   http.HandlerFunc
		fatal    bool
		requests int
		says     string
	}{
		"a redirect that becomes a GET": {redirect(http.StatusFound, "/left"), true, 1, "redirects elsewhere"},
		"a redirect to see other":       {redirect(http.StatusSeeOther, "/left"), true, 1, "redirects elsewhere"},
		"a redirect to another host":    {redirect(http.StatusTemporaryRedirect, other.URL+"/left"), true, 1, "redirects elsewhere"},
		"a redirect to what is not https": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/left", http.StatusPermanentRedirect)
		}, true, 1, "redirects elsewhere"},
		"redirects without an end": {redirect(http.StatusTemporaryRedirect, "/again"), true, 4, "redirects elsewhere"},
		"not found":                {http.NotFound, true, 1, "404 Not Found; the list may need a person"},
		"gone wrong":               {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, false, 1, "502"},
		"too many":                 {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, false, 1, "429"},
		"no answer":                {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, 1, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newList(t, tt.answer)
			leaver := newLeaver(t, l)
			_, err := leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+"/u?token=secret")))
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), "secret")
			require.Equal(t, tt.fatal, isFatal(err), err)
			require.Len(t, l.requests(), tt.requests)
			for _, asked := range l.requests() {
				require.True(t, strings.HasPrefix(asked, "POST "), asked)
			}
		})
	}
	require.Empty(t, other.requests())
}

func TestARedirectThatStaysAPostIsFollowed(t *testing.T) {
	l := newList(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/u" {
			http.Redirect(w, r, "/left", http.StatusPermanentRedirect)
		}
	})
	leaver := newLeaver(t, l)
	_, err := leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+"/u")))
	require.NoError(t, err)
	require.Equal(t, []string{"POST /u List-Unsubscribe=One-Click ", "POST /left List-Unsubscribe=One-Click "}, l.requests())
}

// A body without an end is not read to its end.
func TestAnEndlessAnswer(t *testing.T) {
	ended := make(chan int, 1)
	l := newList(t, func(w http.ResponseWriter, _ *http.Request) {
		written := 0
		for written < 256<<20 {
			n, err := w.Write(make([]byte, 4<<10))
			if written += n; err != nil {
				break
			}
		}
		ended <- written
	})
	leaver := newLeaver(t, l)
	_, err := leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+"/u")))
	require.NoError(t, err)
	require.Less(t, <-ended, 64<<20)
}

func TestOnlyPublicAddressesAreAsked(t *testing.T) {
	l := newList(t, func(http.ResponseWriter, *http.Request) {})
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: messages{}})
	require.NoError(t, err)
	_, err = leaver.Leave(t.Context(), leaver.Read(newsletter(l.URL+"/u")))
	require.ErrorContains(t, err, "127.0.0.1 is not a public address")
	require.True(t, isFatal(err))
	require.Empty(t, l.requests())
}

func TestTheKindLeavesTheListOfItsMessage(t *testing.T) {
	l := newList(t, func(http.ResponseWriter, *http.Request) {})
	leaver, err := unsubscribe.New(unsubscribe.Config{Transport: l.Client().Transport,
		Messages: messages{"m": newsletter(l.URL + "/u")}, Timeout: time.Minute})
	require.NoError(t, err)
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{leaver.Kind()}})
	require.NoError(t, err)
	kind, ok := kinds.Kind(unsubscribe.ActionType)
	require.True(t, ok)
	require.Equal(t, postroom.Dangerous, kind.Danger)
	require.False(t, kind.Reversible())
	outcome, err := kind.Handler(t.Context(), nil, postroom.Action{MessageID: "m"})
	require.NoError(t, err)
	require.Nil(t, outcome.Commit, "nothing is kept without a database")
	require.Len(t, l.requests(), 1)
	_, err = kind.Handler(t.Context(), nil, postroom.Action{MessageID: "gone"})
	require.ErrorIs(t, err, postroom.ErrNotFound)
}

func TestNewRefuses(t *testing.T) {
	_, err := unsubscribe.New(unsubscribe.Config{})
	require.ErrorContains(t, err, "Config.Messages")
	_, err = unsubscribe.New(unsubscribe.Config{Messages: messages{}, Timeout: -1})
	require.ErrorContains(t, err, "Config.Timeout")
}
