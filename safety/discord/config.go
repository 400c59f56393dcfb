package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// Config configures a [Bot]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the tables of this package and of the ledger. Required. Call [Migrate] before.
	DB queue.DB
	// Queue runs the jobs. Required.
	Queue *queue.Queue
	// Ledger has the requests for approval. Required.
	Ledger *safety.Ledger

	// Token is the bot's token, without the word Bot. Required.
	Token string
	// Channel is the id of the channel that messages are posted to. The bot needs permission to view it, to send
	// messages and to read its history. Required.
	Channel string

	// Summarize describes an action in one line, such as "forward to ada@example.org". Default nil: its type and
	// parameters.
	Summarize func(ctx context.Context, action postroom.Action) (string, error)

	// Compose composes the content that an action sends, and returns the text for people to read. It is called before
	// the request is shown, and again before it is approved. It must be idempotent. An error is temporary; set
	// [Content].Refused if the content must never be sent. Default nil: actions send nothing.
	Compose func(ctx context.Context, action postroom.Action) (Content, error)

	// ReadNotice returns the text of a [Notice] that has none: jobs need not hold the words of mail. Default nil.
	ReadNotice func(ctx context.Context, about string) (text string, err error)

	// RemindAfter is how long a request waits before a digest lists it, and between two digests that list it. Default 24
	// h; at least 1 minute.
	RemindAfter time.Duration

	// DeferAfter is how long the answer to a press may take before the bot tells Discord that it will come later.
	// Discord gives up after 3 s. Default 1.5 s; bounds 1 ms to 2.5 s.
	DeferAfter time.Duration

	// Endpoint is the address of the REST API, without /api. Default "https://discord.com".
	Endpoint string
	// Gateway is the address of the gateway's websocket. Default: the address that the REST API returns.
	Gateway string
	// Transport makes the calls to the REST API. Default [http.DefaultTransport].
	Transport http.RoundTripper

	// Logger logs connections, refused presses, and errors outside of jobs. Default [slog.Default].
	Logger *slog.Logger
}

// Content is the content that an action sends, for people to read.
type Content struct {
	Text    string // empty: the action sends nothing
	Refused string // the reason why it must not be sent; the request can then only be rejected

	// SHA256 is the hash of the content, as [postroom.Action.ContentSHA256] has it: a message that would show other
	// content than its request names is not posted. Empty: nothing is compared.
	SHA256 string
}

const (
	defaultRemind = 24 * time.Hour
	defaultDefer  = 1500 * time.Millisecond
	maxDefer      = 2500 * time.Millisecond
)

func (c Config) withDefaults() (Config, error) {
	c.RemindAfter = cmp.Or(c.RemindAfter, defaultRemind)
	c.DeferAfter = cmp.Or(c.DeferAfter, defaultDefer)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Summarize == nil {
		c.Summarize = func(_ context.Context, a postroom.Action) (string, error) { return summary(a), nil }
	}
	if c.Compose == nil {
		c.Compose = func(context.Context, postroom.Action) (Content, error) { return Content{}, nil }
	}
	return c, c.validate()
}

func (c *Config) validate() error {
	faults := []error{
		fields.Required("discord: Config.DB", c.DB, "a database opened with queue/sqlite or queue/postgres"),
		fields.Required("discord: Config.Queue", c.Queue, "a queue made by queue.New"),
		fields.Required("discord: Config.Ledger", c.Ledger, "a ledger made by safety.NewLedger"),
		fields.Optional("discord: Config.Transport", c.Transport),
		c.address("Endpoint", c.Endpoint, "https", "http"),
		c.address("Gateway", c.Gateway, "wss", "ws"),
	}
	if c.Token == "" || strings.ContainsAny(c.Token, " \t\r\n") {
		faults = append(faults, errors.New(
			"discord: Config.Token is empty or has spaces; give the bot's token alone, without the word Bot"))
	}
	if !validID(c.Channel) {
		faults = append(faults, fmt.Errorf("discord: Config.Channel is %q; give the id of a channel, which is a number",
			c.Channel))
	}
	if c.RemindAfter < time.Minute {
		faults = append(faults, fmt.Errorf("discord: Config.RemindAfter is %v; it must be at least 1m", c.RemindAfter))
	}
	if c.DeferAfter < time.Millisecond || c.DeferAfter > maxDefer {
		faults = append(faults, fmt.Errorf("discord: Config.DeferAfter is %v; it must be within 1ms and %v",
			c.DeferAfter, maxDefer))
	}
	return errors.Join(faults...)
}

func (c *Config) address(field, given string, schemes ...string) error {
	if given == "" {
		return nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != schemes[0] &&
		u.Scheme != schemes[1] {
		return fmt.Errorf(
			"discord: Config.%s is %q; give an address that begins with %s:// or %s://, without user or query", field, given,
			schemes[0], schemes[1])
	}
	return nil
}

// validID reports whether s is a snowflake.
func validID(s string) bool {
	return len(s) >= 1 && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// A Bot represents one program in a channel. [New] makes one; it is safe for concurrent use.
type Bot struct {
	cfg  Config
	rest *discordgo.Session // never opened

	me    atomic.Pointer[string] // ids that are fetched once
	guild atomic.Pointer[string]

	running atomic.Bool
}

// New makes a bot. It returns an error that names the field of a bad configuration. It makes no calls. [Migrate] must
// have run.
func New(cfg Config) (*Bot, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &Bot{cfg: cfg}
	if b.rest, err = b.session(cfg.Transport); err != nil {
		return nil, err
	}
	return b, nil
}
