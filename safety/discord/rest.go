package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom/queue"
)

const callTimeout = 20 * time.Second

// session makes a session whose calls use the transport. It does not log or retry; the queue retries.
func (b *Bot) session(transport http.RoundTripper) (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + b.cfg.Token)
	if err != nil {
		return nil, err
	}
	if b.cfg.Endpoint != "" {
		to, err := url.Parse(strings.TrimRight(b.cfg.Endpoint, "/"))
		if err != nil {
			return nil, err
		}
		transport = elsewhere{to, transport}
	}
	s.Client = &http.Client{Timeout: callTimeout, Transport: transport}
	s.LogLevel = -1
	s.MaxRestRetries = 0
	s.ShouldRetryOnRateLimit = false
	s.ShouldReconnectOnError = false
	s.StateEnabled = false
	s.SyncEvents = true
	s.Compress = false
	s.Identify.Intents = discordgo.IntentsNone // interactions need no intents
	return s, nil
}

// elsewhere sends the calls of discordgo, whose addresses are global variables, to another server.
type elsewhere struct {
	to   *url.URL
	next http.RoundTripper
}

// RoundTrip sends one call.
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.URL.Path = e.to.Scheme, e.to.Host, e.to.Path+r.URL.Path
	r.URL.RawPath, r.Host = "", ""
	return e.next.RoundTrip(r)
}

// An Error is an error response of Discord. It does not keep the request, whose header has the token.
type Error struct {
	Op      string // the operation, such as "post a message"
	Status  int    // of HTTP
	Code    int    // Discord's code; 0 if there is none
	Message string
}

// Error returns the operation, the status and Discord's message.
func (e *Error) Error() string {
	s := fmt.Sprintf("discord: %s: %d %s", e.Op, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		s += fmt.Sprintf(": %s (code %d)", cut(clean(e.Message), 300), e.Code)
	}
	switch e.Status {
	case http.StatusUnauthorized:
		s += "; the bot's token is not valid"
	case http.StatusForbidden:
		s += "; give the bot the permissions to view the channel, to send messages and to read its history"
	}
	return s
}

// The codes of Discord's errors that are handled.
const (
	codeUnknownMessage     = 10008
	codeUnknownInteraction = 10062
	codeAcknowledged       = 40060
)

// failed converts an error of discordgo for a job: a rate limit defers the job, and an invalid request is not retried.
func failed(op string, err error) error {
	var limited *discordgo.RateLimitError
	var answered *discordgo.RESTError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		return queue.Defer(fmt.Errorf("discord: %s: a rate limit asks to wait for %v", op, limited.RetryAfter),
			limited.RetryAfter)
	case errors.As(err, &answered):
		e := &Error{Op: op, Status: answered.Response.StatusCode}
		if answered.Message != nil {
			e.Code, e.Message = answered.Message.Code, answered.Message.Message
		}
		if e.Status == http.StatusBadRequest {
			return queue.Fatal(e)
		}
		return e
	}
	return fmt.Errorf("discord: %s: %w", op, err)
}

// hasCode reports whether err is Discord's error of the code.
func hasCode(err error, codes ...int) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// limited returns an error that defers the job if a call of the bucket has to wait. discordgo would sleep, even if
// the job ends meanwhile.
func (b *Bot) limited(op, bucket string) error {
	limit := b.rest.Ratelimiter.GetBucket(bucket)
	limit.Lock()
	wait := b.rest.Ratelimiter.GetWaitTime(limit, 1)
	limit.Unlock()
	if wait <= 0 {
		return nil
	}
	return queue.Defer(fmt.Errorf("discord: %s: a rate limit asks to wait for %v", op, wait.Round(time.Millisecond)), wait)
}

// user returns the id of the bot's own user.
func (b *Bot) user(ctx context.Context) (string, error) {
	if id := b.me.Load(); id != nil {
		return *id, nil
	}
	u, err := b.rest.User("@me", discordgo.WithContext(ctx))
	if err != nil {
		return "", failed("read the bot's user", err)
	}
	b.me.Store(&u.ID)
	return u.ID, nil
}

// server returns the id of the server that the channel belongs to, as it stands in links.
func (b *Bot) server(ctx context.Context) (string, error) {
	if id := b.guild.Load(); id != nil {
		return *id, nil
	}
	c, err := b.rest.Channel(b.cfg.Channel, discordgo.WithContext(ctx))
	if err != nil {
		return "", failed("read the channel", err)
	}
	id := cmp.Or(c.GuildID, "@me") // a direct message has no server
	b.guild.Store(&id)
	return id, nil
}
