package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/anthropic"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/gemini"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/openai"
	"github.com/postroom-go/postroom/safety"
)

// byModel makes the decider for mail that no rule matches; nil if no model is configured. It makes no calls.
func (h *host) byModel() (postroom.Decider, error) {
	if !h.env.Config.LLM.Enabled() {
		return nil, nil //nolint:nilnil // none is no error, and decides nothing
	}
	return h.decider()
}

func (h *host) decider() (_ *decide.Decider, err error) {
	may, err := h.env.ModelKinds()
	if err != nil {
		return nil, err
	}
	cfg := decide.Config{Kinds: may, Guidance: h.guidance, EscalateBelow: h.env.Config.LLM.BetterBelow}
	if cfg.Client, err = h.modelClient(&h.env.Config.LLM.Model); err != nil {
		return nil, err
	}
	if h.env.Config.Better.Enabled() {
		if cfg.Escalation, err = h.modelClient(&h.env.Config.Better); err != nil {
			return nil, err
		}
	}
	if h.env.Config.LLM.Reuse > 0 {
		templates, err := decide.NewTemplates(decide.TemplatesConfig{DB: h.db, Keep: h.env.Config.LLM.Reuse, Scope: strings.Join(h.models(), " "), Stands: h.stands})
		if err != nil {
			return nil, err
		}
		cfg.Templates = templates
	}
	if t := h.env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return decide.New(cfg)
}

// stands reports whether nobody has rejected or undone the decision about a message.
func (h *host) stands(ctx context.Context, accountID, messageID string) (bool, error) {
	done, err := h.ledger.Actions(ctx, safety.Filter{AccountID: accountID, MessageID: messageID, Limit: 100})
	if err != nil {
		return false, err
	}
	for _, e := range done {
		if safety.LeftOut(&e.Action) {
			continue
		}
		switch e.Action.State {
		case postroom.ActionRejected, postroom.ActionCanceled, postroom.ActionFailed:
			return false, nil
		}
		if safety.IsUndo(e.Action.Type) {
			return false, nil
		}
	}
	return len(done) > 0, nil
}

// guidance returns the user's instructions to the model.
func (h *host) guidance(ctx context.Context, msg *postroom.Message) (g decide.Guidance, err error) {
	if g.Instructions, err = h.guide.For(ctx, msg); err != nil {
		return g, err
	}
	g.Labels, err = h.mail.Labels(ctx, msg.AccountID)
	return g, err
}

// modelClient makes the client of a model with the fallback for the time when it cannot answer.
func (h *host) modelClient(m *config.Model) (llm.Client, error) {
	client, err := h.meteredClient(m)
	if err != nil || !h.env.Config.Fallback.Enabled() {
		return client, err
	}
	fallback, err := h.meteredClient(&h.env.Config.Fallback)
	if err != nil {
		return nil, err
	}
	return llm.NewFallback(client, fallback)
}

// meteredClient makes the client of one model, with its records, budgets and limits. Each attempt is recorded.
func (h *host) meteredClient(m *config.Model) (llm.Client, error) {
	provider, err := providerClient(m)
	if err != nil {
		return nil, err
	}
	cfg := &h.env.Config.LLM
	metered := llm.MeteredConfig{
		Answers: h.answers(),
		Client:  provider, Records: h.records, Price: priceOf(m), MaxOutputTokens: cfg.MaxOutputTokens, KeepAnswers: cfg.KeepAnswers, Logger: h.log,
		AccountBudget: llm.Budget{Tokens: int64(cfg.AccountTokensDay), Cost: llm.Dollars(cfg.AccountDollarsDay)},
		TotalBudget:   llm.Budget{Tokens: int64(cfg.TotalTokensDay), Cost: llm.Dollars(cfg.TotalDollarsDay)},
	}
	if metered.KeepAnswers == 0 {
		metered.KeepAnswers = -1
	}
	recorded, err := llm.NewMetered(metered)
	if err != nil {
		return nil, err
	}
	limited, err := llm.NewLimited(llm.LimitedConfig{
		Client: recorded, RequestsPerMinute: cfg.RequestsPerMinute, TokensPerMinute: cfg.TokensPerMinute, Concurrent: cfg.Concurrency,
	})
	if err != nil {
		return nil, err
	}
	return llm.NewRetrying(llm.RetryingConfig{Client: limited})
}

// providerClient makes the client of a provider.
func providerClient(m *config.Model) (client llm.Client, err error) {
	key := llm.Secret(m.APIKey)
	switch m.Provider {
	case config.OpenAI:
		client, err = openai.New(openai.Config{Model: m.Model, Key: key, BaseURL: m.BaseURL, Timeout: m.Timeout})
	case config.Anthropic:
		client, err = anthropic.New(anthropic.Config{Model: m.Model, Key: key, BaseURL: m.BaseURL, Timeout: m.Timeout})
	case config.Gemini:
		client, err = gemini.New(gemini.Config{Model: m.Model, Key: key, BaseURL: m.BaseURL, Timeout: m.Timeout})
	default:
		err = fmt.Errorf("there is no provider %q", m.Provider)
	}
	return client, err
}

// priceOf returns nil for an unknown price.
func priceOf(m *config.Model) *llm.Price {
	if !m.Priced() {
		return nil
	}
	return &llm.Price{
		Input: llm.Dollars(m.InputPrice), Output: llm.Dollars(m.OutputPrice),
		CacheRead: llm.Dollars(m.CacheReadPrice), CacheWrite: llm.Dollars(m.CacheWritePrice),
	}
}

// configuredModels returns the configured models.
func (h *host) configuredModels() []*config.Model {
	return slices.DeleteFunc([]*config.Model{&h.env.Config.LLM.Model, &h.env.Config.Better, &h.env.Config.Fallback}, func(m *config.Model) bool { return !m.Enabled() })
}

// models returns their names in records.
func (h *host) models() []string { return printer.List(h.configuredModels(), modelName) }

// modelName returns the name of a model in records, or its configured name if it is invalid.
func modelName(m *config.Model) string {
	if client, err := providerClient(m); err == nil {
		if named, ok := client.(interface{ Model() string }); ok {
			return named.Model()
		}
	}
	return m.Provider + "::" + m.Model
}

// openModels opens the stores about models: the instructions to them, calls and costs. Days begin at midnight where postroomd runs.
func (h *host) openModels() (err error) {
	if h.guide, err = guidance.New(guidance.Config{DB: h.db, Kinds: environment.Kinds}); err != nil {
		return err
	}
	if err := h.openCache(); err != nil {
		return err
	}
	h.records, err = llm.NewRecords(llm.RecordsConfig{DB: h.db, Zone: time.Local})
	return err
}
