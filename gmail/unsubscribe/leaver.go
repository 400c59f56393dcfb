package unsubscribe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/publichttp"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
)

// ActionType is the type of [Leaver.Kind].
const ActionType postroom.ActionType = "unsubscribe"

const (
	defaultTimeout = 15 * time.Second
	defaultPerDay  = 50
	maxPerDay      = 1000
	// maxRedirects bounds the redirects of one request. A list that moved needs one.
	maxRedirects = 3
	// maxAnswer bounds what is read of an answer, so that its connection can be used again.
	maxAnswer = 64 << 10
	// maxRetryAfter bounds the delay that a list can request.
	maxRetryAfter = 6 * time.Hour
	// body is the body of the request (RFC 8058, section 3.1).
	body = "List-Unsubscribe=One-Click"
)

// Messages returns stored messages with all their header fields. A [mailstore.Store] is one.
type Messages interface {
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
}

// Config configures a [Leaver]. It is copied and checked once, by [New].
type Config struct {
	// Messages has the messages whose lists are left. Required.
	Messages Messages
	// AuthServer is the server whose authentication results count. Default: Gmail's.
	AuthServer authres.Server
	// Timeout bounds one request. Default 15 seconds.
	Timeout time.Duration
	// DB keeps which lists were left, for the limit of a day and for [Leaver.Records]. Default nil: nothing is kept, and
	// PerDay means nothing. [Migrate] must have prepared it.
	DB queue.DB
	// PerDay bounds the lists of one account that are left within a day. What is beyond waits. Default 50; bounds 1 to
	// 1000.
	PerDay int
	// Drafts sends the mail of the way [ByMail]. Default nil: lists are left by one click alone.
	Drafts *outbox.Drafts
	// AllowPrivate also asks addresses that are not public, for tests and a list server of one's own. Default false.
	AllowPrivate bool
	// Transport makes the requests in place of the package's own, for tests. AllowPrivate means nothing then.
	// Default nil.
	Transport http.RoundTripper
}

// A Leaver unsubscribes. [New] makes one; it is safe for concurrent use.
type Leaver struct {
	cfg    Config
	client *http.Client
}

// New makes a leaver. It returns an error that names the field of a bad configuration.
func New(cfg Config) (*Leaver, error) {
	if err := fields.Required("unsubscribe: Config.Messages", cfg.Messages,
		"give the store of the mail, such as a mailstore.Store"); err != nil {
		return nil, err
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("unsubscribe: Config.Timeout is %v; it must be positive, or 0 for %v", cfg.Timeout, defaultTimeout)
	}
	if cfg.PerDay = cmp.Or(cfg.PerDay, defaultPerDay); cfg.PerDay < 1 || cfg.PerDay > maxPerDay {
		return nil, fmt.Errorf("unsubscribe: Config.PerDay is %d; it must be from 1 to %d, or 0 for %d", cfg.PerDay, maxPerDay,
			defaultPerDay)
	}
	if cfg.AuthServer.ID == "" {
		cfg.AuthServer = authres.Server{ID: "mx.google.com", Below: true}
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	client := publichttp.NewClient(cfg.Timeout, cfg.AllowPrivate)
	if cfg.Transport != nil {
		client.Transport = cfg.Transport
	}
	client.CheckRedirect = checkRedirect
	return &Leaver{cfg: cfg, client: client}, nil
}

// errRedirect reports a redirect that is not followed.
var errRedirect = errors.New("the list's server redirects elsewhere, which is not followed")

// checkRedirect follows what stays a POST of the same request to the same host.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	if next.Method != http.MethodPost || next.URL.Scheme != "https" || !strings.EqualFold(next.URL.Host, first.URL.Host) ||
		next.URL.User != nil || len(before) > maxRedirects {
		return errRedirect
	}
	next.Header.Del("Referer")
	return nil
}

// Read returns what a message offers.
func (l *Leaver) Read(msg *postroom.Message) Offer { return Read(msg, l.cfg.AuthServer) }

// A Receipt says where a list was left.
type Receipt struct {
	Host   string // of the address
	Status int    // of the answer, 200 to 299
}

// Leave makes the request of an offer. An error of queue.Fatal is one that another attempt would return as well: there
// is nothing to ask, or the list's server refuses. Leaving twice does what leaving once does.
func (l *Leaver) Leave(ctx context.Context, offer Offer) (Receipt, error) {
	if offer.OneClick == nil {
		return Receipt{}, queue.Fatal(fmt.Errorf("unsubscribe: %w", cmp.Or(offer.Refused, ErrNotOffered)))
	}
	host := offer.OneClick.Host
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, offer.OneClick.String(), strings.NewReader(body))
	if err != nil {
		return Receipt{}, queue.Fatal(fmt.Errorf("unsubscribe: make the request: %w", err))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "postroom")
	answer, err := l.client.Do(r)
	if err != nil {
		return Receipt{}, unreachable(host, err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return Receipt{Host: host, Status: answer.StatusCode}, judge(host, answer, time.Now())
}

// unreachable returns the error of a request that had no answer, without the address: its token could be used.
func unreachable(host string, err error) error {
	if of := (*url.Error)(nil); errors.As(err, &of) {
		err = of.Err
	}
	failed := fmt.Errorf("unsubscribe: ask %s: %w", host, briefError{err})
	if private := (*publichttp.PrivateError)(nil); errors.Is(err, errRedirect) || errors.As(err, &private) {
		return queue.Fatal(failed)
	}
	return failed
}

// A briefError has the beginning of the text of another, in which a server's own words may be.
type briefError struct{ error }

// maxError bounds the text of an error, in bytes.
const maxError = 300

func (e briefError) Error() string {
	text := e.error.Error()
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

func (e briefError) Unwrap() error { return e.error }

// judge decides by the status of an answer.
func judge(host string, answer *http.Response, now time.Time) error {
	status := answer.StatusCode
	if status >= 200 && status < 300 {
		return nil
	}
	err := fmt.Errorf("unsubscribe: ask %s: the answer is %d %s; the list may need a person to open its page", host, status,
		http.StatusText(status))
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		if status < 500 {
			return queue.Fatal(err)
		}
	}
	return queue.RetryAfter(err, publichttp.RetryAfter(answer.Header.Get("Retry-After"), now, maxRetryAfter))
}
