package app

import (
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

// NewRulesChat returns the chat with the better model, if there is one: rules are written rarely, and used often.
// Without a model, sessions can be read. path is the rules file that is talked about; empty if there is none, or only
// sessions are read.
func (h *App) NewRulesChat(path string) (*ruleschat.Chat, error) {
	cfg := ruleschat.Config{DB: h.DB, Kinds: h.Env.ActionKinds(), Options: h.RuleEditor.rulesOptions(path)}
	if !h.Env.Config.LLM.Enabled() {
		return ruleschat.New(cfg)
	}
	model := &h.Env.Config.LLM.Model
	if h.Env.Config.Better.Enabled() {
		model = &h.Env.Config.Better
	}
	client, err := h.Models.modelClient(model)
	if err != nil {
		return nil, err
	}
	cfg.Client = client
	if t := h.Env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return ruleschat.New(cfg)
}
