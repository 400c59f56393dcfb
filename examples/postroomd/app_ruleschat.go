package main

import (
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

// rulesChat returns the chat with the better model, if there is one: rules are written rarely, and used often. Without a model,
// sessions can be read.
func (h *host) rulesChat() (*ruleschat.Chat, error) {
	cfg := ruleschat.Config{DB: h.db, Kinds: environment.Kinds, Options: h.editor.rulesOptions()}
	if !h.env.Config.LLM.Enabled() {
		return ruleschat.New(cfg)
	}
	model := &h.env.Config.LLM.Model
	if h.env.Config.Better.Enabled() {
		model = &h.env.Config.Better
	}
	client, err := h.models.modelClient(model)
	if err != nil {
		return nil, err
	}
	cfg.Client = client
	if t := h.env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return ruleschat.New(cfg)
}
