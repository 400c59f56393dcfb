// Package gemini is a client of the Gemini API's generateContent.
//
// The key is sent only to the configured address: redirects are refused, and nothing is read from the environment.
package gemini

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"google.golang.org/genai"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/provider"
)

// BaseURL is the address of the Gemini API.
const BaseURL = "https://generativelanguage.googleapis.com/"

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
	caller *provider.Caller
	models *genai.Models
}

var _ llm.Client = (*Client)(nil)

// New makes a client. It returns an error that names the field of a bad configuration. It makes no calls.
func New(cfg Config) (*Client, error) {
	base := cmp.Or(cfg.BaseURL, BaseURL)
	caller, err := provider.New(provider.Settings{
		Package: "gemini", Name: "gemini", Model: cfg.Model, Key: cfg.Key, NeedsKey: true, BaseURL: base,
		HTTPClient: cfg.HTTPClient, Timeout: cfg.Timeout, MaxOutput: cfg.MaxOutputTokens, MaxBytes: cfg.MaxAnswerBytes,
	})
	if err != nil {
		return nil, err
	}
	// Everything that the SDK would take from the environment is set here. The SDK does not retry by default.
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: string(cfg.Key), Backend: genai.BackendGeminiAPI, HTTPClient: caller.HTTP,
		HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: "v1beta"},
	})
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	return &Client{caller: caller, models: client.Models}, nil
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
		contents, config := c.params(req)
		if req.Stream != nil {
			return c.stream(ctx, req, contents, config)
		}
		answer, err := guarded(func() (*genai.GenerateContentResponse, error) {
			return c.models.GenerateContent(ctx, c.caller.Model, contents, config)
		})
		if err != nil {
			return nil, err
		}
		var t turn
		if err := t.add(&llm.Request{}, answer); err != nil {
			return nil, err
		}
		return t.finish()
	})
}
