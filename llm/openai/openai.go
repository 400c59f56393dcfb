// Package openai is a client of OpenAI's chat completions and of all compatible servers: Ollama, vLLM, gateways.
//
// The base URL selects the server, such as http://localhost:11434/v1 for Ollama. The key is sent only to that server:
// redirects are refused, and nothing is read from the environment.
package openai

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// BaseURL is OpenAI's own address.
const BaseURL = "https://api.openai.com/v1"

// Config configures a [Client]. It is copied and checked once, by [New].
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string
	// Key is sent as a bearer token. Required with the default BaseURL; your own servers may not need one.
	Key llm.Secret
	// BaseURL is the address of the server, with its version, without query. Default [BaseURL].
	BaseURL string
	// Provider is the server's name in records and errors. Default openai, or the host of another BaseURL.
	Provider string
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
	caller *provider.Caller
	chat   openai.ChatCompletionService
	// official reports that the server is OpenAI's, whose name for the bound of an answer differs.
	official bool
}

var _ llm.Client = (*Client)(nil)

// New makes a client. It returns an error that names the field of a bad configuration. It makes no calls.
func New(cfg Config) (*Client, error) {
	base := cmp.Or(cfg.BaseURL, BaseURL)
	name, official := cfg.Provider, false
	if u, err := url.Parse(base); err == nil {
		official = u.Host == "api.openai.com"
		if name == "" {
			name = u.Host
		}
	}
	if official && cfg.Provider == "" {
		name = "openai"
	}
	caller, err := provider.New(provider.Settings{
		Package: "openai", Name: name, Model: cfg.Model, Key: cfg.Key, NeedsKey: official, BaseURL: base,
		HTTPClient: cfg.HTTPClient, Timeout: cfg.Timeout, MaxOutput: cfg.MaxOutputTokens, MaxBytes: cfg.MaxAnswerBytes,
	})
	if err != nil {
		return nil, err
	}
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(base, "/") + "/"), option.WithHTTPClient(caller.HTTP), option.WithMaxRetries(0),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(string(cfg.Key)))
	}
	// The service, and not the SDK's client, which takes keys and addresses from the environment.
	return &Client{caller: caller, chat: openai.NewChatCompletionService(options...), official: official}, nil
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
		completion, err := c.chat.New(ctx, params)
		if err != nil {
			return nil, err
		}
		return response(completion)
	})
}
