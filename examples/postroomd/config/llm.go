package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// A Model is the section of one language model.
type Model struct {
	Provider string // one of the providers; empty: no model
	Model    string
	BaseURL  string // empty: the provider's own
	APIKey   Secret
	Timeout  time.Duration
	// In dollars for a million tokens. If all are 0, the prices are unknown, or nothing. If the price of cached tokens
	// is 0, it is that of the input.
	InputPrice, OutputPrice, CacheReadPrice, CacheWritePrice float64
}

// The values of Model.Provider.
const (
	OpenAI    = "openai" // and all that speak chat completions
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// LLM is the section [llm]: the first model, and the settings for all models.
type LLM struct {
	Model
	Temperature       float64 // ProvidersTemperature: not sent
	MaxOutputTokens   int
	Concurrency       int
	RequestsPerMinute int           // 0: no bound but the provider's
	TokensPerMinute   int           // 0: no bound but the provider's
	AccountTokensDay  int           // 0: any number
	AccountDollarsDay float64       // 0: any amount
	TotalTokensDay    int           // 0: any number
	TotalDollarsDay   float64       // 0: any amount
	KeepAnswers       time.Duration // 0: not at all
	Cache             Secret        // the URL of the Redis that keeps them; empty: the database does
	Reuse             time.Duration // 0: not at all
	Age               time.Duration // 0: any
	BetterBelow       float64
}

// ProvidersTemperature leaves the temperature to the provider.
const ProvidersTemperature = -1

func defaultModel() Model { return Model{Timeout: 2 * time.Minute} }

// Enabled reports whether the model is configured.
func (m *Model) Enabled() bool { return m.Provider != "" }

// Priced reports whether its price is known.
func (m *Model) Priced() bool {
	return m.InputPrice > 0 || m.OutputPrice > 0 || m.CacheReadPrice > 0 || m.CacheWritePrice > 0
}

// modelSettings are the settings of one model's section.
func modelSettings(section string, of func(*Config) *Model) []setting {
	price := func(key, example string, field func(*Model) *float64) setting {
		return setting{
			section + "." + key, "", example, func(c *Config) any { return field(of(c)) },
			func(c *Config) string { return upTo(*field(of(c)), 1000) },
		}
	}
	return []setting{
		{section + ".provider", "", `"openai"`, func(c *Config) any { return &of(c).Provider },
			func(c *Config) string { return oneOf(of(c).Provider, "", OpenAI, Anthropic, Gemini) }},
		{section + ".model", "", `"the-name-of-a-model"`, func(c *Config) any { return &of(c).Model }, nil},
		{section + ".base_url", "", `"http://127.0.0.1:11434/v1"`, func(c *Config) any { return &of(c).BaseURL },
			func(c *Config) string { return webAddress(of(c).BaseURL) }},
		{section + ".api_key", "", `"env:LLM_API_KEY"`, func(c *Config) any { return &of(c).APIKey }, nil},
		{section + ".timeout", "", `"2m"`, func(c *Config) any { return &of(c).Timeout },
			func(c *Config) string { return between(of(c).Timeout, time.Second, time.Hour) }},
		price("input_price", "1.0", func(m *Model) *float64 { return &m.InputPrice }),
		price("output_price", "5.0", func(m *Model) *float64 { return &m.OutputPrice }),
		price("cache_read_price", "0.1", func(m *Model) *float64 { return &m.CacheReadPrice }),
		price("cache_write_price", "1.25", func(m *Model) *float64 { return &m.CacheWritePrice }),
	}
}

// llmSettings are those of the models, in the order of the file.
func llmSettings() []setting {
	first := modelSettings("llm", func(c *Config) *Model { return &c.LLM.Model })
	first[1].env = "MODEL"
	const most = 1_000_000_000
	first = append(first,
		setting{"llm.temperature", "", "0.2", func(c *Config) any { return &c.LLM.Temperature }, func(c *Config) string {
			if t := c.LLM.Temperature; t == ProvidersTemperature || t >= 0 && t <= 2 {
				return ""
			}
			return "a number from 0 to 2, or -1 for the provider's own"
		}},
		setting{"llm.max_output_tokens", "", "1024", func(c *Config) any { return &c.LLM.MaxOutputTokens },
			func(c *Config) string { return within(c.LLM.MaxOutputTokens, 64, 100_000) }},
		setting{"llm.concurrency", "", "4", func(c *Config) any { return &c.LLM.Concurrency },
			func(c *Config) string { return within(c.LLM.Concurrency, 1, 1000) }},
		setting{"llm.requests_per_minute", "", "50", func(c *Config) any { return &c.LLM.RequestsPerMinute },
			func(c *Config) string { return within(c.LLM.RequestsPerMinute, 0, 1_000_000) }},
		setting{"llm.tokens_per_minute", "", "30000", func(c *Config) any { return &c.LLM.TokensPerMinute },
			func(c *Config) string { return within(c.LLM.TokensPerMinute, 0, most) }},
		setting{"llm.account_tokens_day", "", "2000000", func(c *Config) any { return &c.LLM.AccountTokensDay },
			func(c *Config) string { return within(c.LLM.AccountTokensDay, 0, most) }},
		setting{"llm.account_dollars_day", "", "0.5", func(c *Config) any { return &c.LLM.AccountDollarsDay },
			func(c *Config) string { return upTo(c.LLM.AccountDollarsDay, 100_000) }},
		setting{"llm.total_tokens_day", "", "10000000", func(c *Config) any { return &c.LLM.TotalTokensDay },
			func(c *Config) string { return within(c.LLM.TotalTokensDay, 0, most) }},
		setting{"llm.total_dollars_day", "", "2.0", func(c *Config) any { return &c.LLM.TotalDollarsDay },
			func(c *Config) string { return upTo(c.LLM.TotalDollarsDay, 100_000) }},
		setting{"llm.keep_answers", "", `"24h"`, func(c *Config) any { return &c.LLM.KeepAnswers },
			func(c *Config) string { return orNever(c.LLM.KeepAnswers) }},
		setting{"llm.cache", "", `"env:POSTROOM_REDIS"`, func(c *Config) any { return &c.LLM.Cache },
			func(c *Config) string { return redisAddress(string(c.LLM.Cache)) }},
		setting{"llm.reuse", "", `"720h"`, func(c *Config) any { return &c.LLM.Reuse },
			func(c *Config) string { return orNever(c.LLM.Reuse) }},
		setting{"llm.age", "", `"168h"`, func(c *Config) any { return &c.LLM.Age }, func(c *Config) string {
			if text := between(c.LLM.Age, time.Hour, 3650*24*time.Hour); c.LLM.Age != 0 && text != "" {
				return text + ", or 0s for any age"
			}
			return ""
		}},
		setting{"llm.better_below", "", "0.8", func(c *Config) any { return &c.LLM.BetterBelow },
			func(c *Config) string { return part(c.LLM.BetterBelow) }},
	)
	better := modelSettings("llm_better", func(c *Config) *Model { return &c.Better })
	return append(append(first, better...), modelSettings("llm_fallback", func(c *Config) *Model {
		return &c.Fallback
	})...)
}

// upTo also refuses NaN, which TOML has.
func upTo(n, high float64) string {
	if n >= 0 && n <= high {
		return ""
	}
	return fmt.Sprintf("a number from 0 to %.0f", high)
}

func part(p float64) string {
	if p > 0 && p <= 1 {
		return ""
	}
	return "a number above 0, at most 1"
}

func redisAddress(address string) string {
	u, err := url.Parse(address)
	if address == "" || err == nil && (u.Scheme == "redis" || u.Scheme == "rediss") && u.Host != "" {
		return ""
	}
	return "the URL of a Redis server, as redis://127.0.0.1:6379/0"
}

func orNever(d time.Duration) string {
	if d == 0 {
		return ""
	}
	if text := between(d, time.Minute, 365*24*time.Hour); text != "" {
		return text + ", or 0s for never"
	}
	return ""
}

// A fault is a fault in a combination of settings. key names the setting to change.
type fault struct{ key, message, hint string }

// modelFaults returns the faults in the combination of the models' settings. given reports whether a setting is set.
func (c *Config) modelFaults(given func(key string) bool) []fault {
	var faults []fault
	for _, m := range []struct {
		section string
		*Model
	}{{"llm", &c.LLM.Model}, {"llm_better", &c.Better}, {"llm_fallback", &c.Fallback}} {
		if !m.Enabled() {
			for _, key := range []string{".model", ".base_url", ".api_key"} {
				if given(m.section + key) {
					faults = append(faults, fault{m.section + key, "this has no effect: " + m.section + ".provider is not set",
						`write provider = "openai", "anthropic" or "gemini"`})
				}
			}
			continue
		}
		if m.section != "llm" && !c.LLM.Enabled() {
			faults = append(faults, fault{m.section + ".provider", "this has no effect: llm.provider is not set",
				"configure the first model below [llm]"})
		}
		faults = append(faults, m.faults(m.section, c.LLM.AccountDollarsDay > 0 || c.LLM.TotalDollarsDay > 0)...)
	}
	switch {
	case c.LLM.Cache == "":
	case c.LLM.KeepAnswers == 0:
		faults = append(faults, fault{"llm.cache", "this has no effect: llm.keep_answers is 0s",
			"say for how long, or leave it out for a day"})
	case inTheClear(string(c.LLM.Cache), "redis"):
		faults = append(faults, fault{"llm.cache", "what models say of your mail would go there without encryption",
			"write an address that begins with rediss://"})
	}
	return faults
}

func (m *Model) faults(section string, budget bool) []fault {
	var faults []fault
	key := section + ".provider"
	if strings.TrimSpace(m.Model) == "" {
		faults = append(faults, fault{key, section + ".model is not set",
			`write the provider's name of a model, as in model = "the-name-of-a-model"`})
	}
	if m.APIKey == "" && (m.Provider != OpenAI || m.BaseURL == "") {
		faults = append(faults, fault{key, section + ".api_key is not set",
			`write api_key = "env:LLM_API_KEY" and set that variable`})
	}
	if inTheClear(m.BaseURL, "http") {
		faults = append(faults, fault{section + ".base_url", "your mail, and the key, would go there without encryption",
			"write an address that begins with https://"})
	}
	if budget && !m.Priced() {
		faults = append(faults, fault{key, "there is a budget in dollars, and the price of this model is not known",
			"write input_price and output_price below [" + section + "], in dollars for a million tokens"})
	}
	return faults
}

// inTheClear reports whether the address is outside of private networks and its scheme has no encryption.
func inTheClear(address, scheme string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != scheme {
		return false
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast()
	}
	// A name without a dot, or below one of these, belongs to the machine or to its own network.
	for _, local := range []string{"localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, local) {
			return false
		}
	}
	return strings.Contains(host, ".")
}
