// Package anthropic is a client of Anthropic's Messages API.
//
// The key is sent only to the configured address: redirects are refused, and nothing is read from the environment.
package anthropic

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// BaseURL is Anthropic's address.
const BaseURL = "https://api.anthropic.com"

// Config configures a [Client]. It is copied and checked once, by [New].
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string
	// Key is the API key. Required.
	Key llm.Secret
	// BaseURL is the address of the server, without the version and a query. Default [BaseURL].
	BaseURL string
	// MaxOutputTokens bounds answers if the request does not. Default 1024.
	MaxOutputTokens int
	// Timeout bounds a call, including its stream. Default 2 minutes.
	Timeout time.Duration
	// MaxAnswerBytes bounds the size of an answer. Default 4 MiB.
	MaxAnswerBytes int64
	// HTTPClient makes the requests. It is copied, and its redirects are turned off. Default nil: one with Go's transport.
	HTTPClient *http.Client
}

// A Client is an [llm.Client]. [New] makes one; the zero Client is unusable.
type Client struct {
	caller   *provider.Caller
	messages anthropic.MessageService
}

var _ llm.Client = (*Client)(nil)

// New makes a client. It returns an error that names the field of a bad configuration. It makes no calls.
func New(cfg Config) (*Client, error) {
	base := cmp.Or(cfg.BaseURL, BaseURL)
	caller, err := provider.New(provider.Settings{
		Package: "anthropic", Name: "anthropic", Model: cfg.Model, Key: cfg.Key, NeedsKey: true, BaseURL: base,
		HTTPClient: cfg.HTTPClient, Timeout: cfg.Timeout, MaxOutput: cfg.MaxOutputTokens, MaxBytes: cfg.MaxAnswerBytes,
	})
	if err != nil {
		return nil, err
	}
	// The service, and not the SDK's client, which takes keys and addresses from the environment. The SDK's spans can
	// contain the text of mails, also by a variable of the environment.
	return &Client{caller: caller, messages: anthropic.NewMessageService(
		option.WithBaseURL(strings.TrimSuffix(base, "/")+"/"), option.WithHTTPClient(caller.HTTP), option.WithMaxRetries(0),
		option.WithAPIKey(string(cfg.Key)), option.WithoutOpenTelemetry(),
	)}, nil
}

// Model returns the model as provider::model.
func (c *Client) Model() string { return c.caller.FullName() }

// String returns [Client.Model].
func (c *Client) String() string { return c.Model() }

// GoString returns [Client.Model].
func (c *Client) GoString() string { return c.Model() }

// LogValue returns [Client.Model].
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.Model()) }

// Complete calls the model.
func (c *Client) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return c.caller.Do(ctx, req, func(ctx context.Context) (*llm.Response, error) {
		params := c.params(req)
		if req.Stream != nil {
			return c.stream(ctx, req, params)
		}
		// The SDK refuses long answers without its own time limit; this client's limit is that of the context.
		message, err := c.messages.New(ctx, params, option.WithRequestTimeout(noLimit))
		if err != nil {
			return nil, err
		}
		return response(message)
	})
}

const noLimit = 24 * time.Hour
