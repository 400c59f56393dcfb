package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/anthropic"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/llm/gemini"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/openai"
	"github.com/postroom-go/postroom/llm/rediscache"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// Models are the configured models, with their records, budgets and instructions.
type Models struct {
	env    *environment.Environment
	log    *slog.Logger
	db     queue.DB
	mail   *mailstore.Store
	ledger *safety.Ledger
	// lessons are the corrections of people; nil: none are kept.
	lessons *lessons.Store

	making   sync.Mutex
	made     *decide.Decider     // nil before the first use
	meaning  *enrichment.Service // nil: the models are asked for decisions only
	Records  *llm.Records
	Guidance *guidance.Store
	cache    *rediscache.Cache // of answers; nil: the database keeps them
}

// byModel makes the decider for mail that no rule matches; nil if no model is configured. It makes no calls.
func (m *Models) byModel() (postroom.Decider, error) {
	if !m.env.Config.LLM.Enabled() {
		return nil, nil //nolint:nilnil // none is no error, and decides nothing
	}
	return m.decider()
}

// decider returns the one decider of the program, whose limits all that ask by it keep together.
func (m *Models) decider() (*decide.Decider, error) {
	m.making.Lock()
	defer m.making.Unlock()
	if m.made == nil {
		made, err := m.NewDecider()
		if err != nil {
			return nil, err
		}
		m.made = made
	}
	return m.made, nil
}

// NewDecider makes what asks the configured models about mail that no rule matches.
func (m *Models) NewDecider() (_ *decide.Decider, err error) {
	may, err := m.env.ModelKinds()
	if err != nil {
		return nil, err
	}
	cfg := decide.Config{Kinds: may, Guidance: m.guidance, EscalateBelow: m.env.Config.LLM.BetterBelow,
		Seen: m.mail.SenderSeen}
	if cfg.Client, err = m.modelClient(&m.env.Config.LLM.Model); err != nil {
		return nil, err
	}
	if c := &m.env.Config; c.Replies.Enabled && c.Replies.Triage && !c.Safety.DryRun {
		cfg.AsksReply = m.asksReply
	}
	if m.meaning != nil && !m.env.Config.Safety.DryRun {
		cfg.Question = m.meaning.Question
	}
	if m.env.Config.Learn.Examples {
		cfg.Examples = m.examples
	}
	if m.env.Config.Better.Enabled() {
		if cfg.Escalation, err = m.modelClient(&m.env.Config.Better); err != nil {
			return nil, err
		}
	}
	if m.env.Config.LLM.Reuse > 0 {
		templates, err := decide.NewTemplates(decide.TemplatesConfig{DB: m.db, Keep: m.env.Config.LLM.Reuse,
			Scope: strings.Join(m.Names(), " "), Stands: m.stands, Records: m.Records})
		if err != nil {
			return nil, err
		}
		cfg.Templates = templates
	}
	account, total := m.budgets()
	if cfg.Turns, err = decide.NewTurns(decide.TurnsConfig{DB: m.db, Records: m.Records, AccountBudget: account,
		TotalBudget: total, Written: m.written}); err != nil {
		return nil, err
	}
	if t := m.env.Config.LLM.Temperature; t != config.ProvidersTemperature {
		cfg.Temperature = &t
	}
	return decide.New(cfg)
}

// budgets are those of a day, of each account and of all.
func (m *Models) budgets() (account, total llm.Budget) {
	c := &m.env.Config.LLM
	return llm.Budget{Tokens: int64(c.AccountTokensDay), Cost: llm.Dollars(c.AccountDollarsDay)},
		llm.Budget{Tokens: int64(c.TotalTokensDay), Cost: llm.Dollars(c.TotalDollarsDay)}
}

// written reports whether the owner of an account has written to an address or a domain: what rules have sent does not
// count.
func (m *Models) written(ctx context.Context, accountID, to string) (bool, error) {
	people := senders.Correspondents{Store: m.mail}
	if strings.Contains(to, "@") {
		return people.WrittenTo(ctx, accountID, to)
	}
	return people.WrittenToDomain(ctx, accountID, to)
}

// stands reports whether nobody has rejected or undone the decision about a message.
func (m *Models) stands(ctx context.Context, accountID, messageID string) (bool, error) {
	done, err := m.ledger.Actions(ctx, safety.Filter{AccountID: accountID, MessageID: messageID, Limit: 100})
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
func (m *Models) guidance(ctx context.Context, msg *postroom.Message) (g decide.Guidance, err error) {
	if g.Instructions, err = m.Guidance.For(ctx, msg); err != nil {
		return g, err
	}
	g.Labels, err = m.mail.Labels(ctx, msg.AccountID)
	return g, err
}

// examples returns what the owner has made of decisions about earlier mail of the sender of a message.
func (m *Models) examples(ctx context.Context, msg *postroom.Message) (list []decide.Example, err error) {
	if m.lessons == nil {
		return nil, nil
	}
	found, err := m.lessons.Examples(ctx, msg)
	for _, e := range found {
		list = append(list, decide.Example(e))
	}
	return list, err
}

// modelClient makes the client of a model with the fallback for the time when it cannot answer.
func (m *Models) modelClient(of *config.Model) (llm.Client, error) {
	if m.env.Demo && !of.Enabled() {
		return scripted.Model{}, nil
	}
	client, err := m.meteredClient(of)
	if err != nil || !m.env.Config.Fallback.Enabled() {
		return client, err
	}
	fallback, err := m.meteredClient(&m.env.Config.Fallback)
	if err != nil {
		return nil, err
	}
	return llm.NewFallback(client, fallback)
}

// agentClient makes the client of a model for agents, which has no fallback: a profile names its model.
func (m *Models) agentClient(of *config.Model) (llm.Client, error) {
	if m.env.Demo && !of.Enabled() {
		return scripted.Model{}, nil
	}
	return m.meteredClient(of)
}

// meteredClient makes the client of one model, with its records, budgets and limits. Each attempt is recorded.
func (m *Models) meteredClient(of *config.Model) (llm.Client, error) {
	provider, err := providerClient(of)
	if err != nil {
		return nil, err
	}
	cfg := &m.env.Config.LLM
	metered := llm.MeteredConfig{
		Answers: m.answers(),
		Client:  provider, Records: m.Records, Price: priceOf(of), MaxOutputTokens: cfg.MaxOutputTokens,
		KeepAnswers: cfg.KeepAnswers, Logger: m.log,
	}
	metered.AccountBudget, metered.TotalBudget = m.budgets()
	if metered.KeepAnswers == 0 {
		metered.KeepAnswers = -1
	}
	recorded, err := llm.NewMetered(metered)
	if err != nil {
		return nil, err
	}
	limited, err := llm.NewLimited(llm.LimitedConfig{
		Client: recorded, RequestsPerMinute: cfg.RequestsPerMinute, TokensPerMinute: cfg.TokensPerMinute,
		Concurrent: cfg.Concurrency,
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
func (m *Models) configuredModels() []*config.Model {
	return slices.DeleteFunc([]*config.Model{&m.env.Config.LLM.Model, &m.env.Config.Better, &m.env.Config.Fallback},
		func(m *config.Model) bool {
			return !m.Enabled()
		})
}

// Names returns their names in records.
func (m *Models) Names() []string { return printer.List(m.configuredModels(), modelName) }

// modelName returns the name of a model in records, or its configured name if it is invalid.
func modelName(m *config.Model) string {
	if client, err := providerClient(m); err == nil {
		if named, ok := client.(interface{ Model() string }); ok {
			return named.Model()
		}
	}
	return m.Provider + "::" + m.Model
}

// Open opens the stores about models: their directions, calls and costs. Days begin at midnight where postroomd runs.
func (m *Models) open() (err error) {
	if m.Guidance, err = guidance.New(guidance.Config{DB: m.db, Kinds: m.env.ActionKinds()}); err != nil {
		return err
	}
	if err := m.openCache(); err != nil {
		return err
	}
	m.Records, err = llm.NewRecords(llm.RecordsConfig{DB: m.db, Zone: time.Local})
	return err
}

// silentRedis drops the client's own output: each failed call is logged by its caller.
type silentRedis struct{}

func (silentRedis) Printf(context.Context, string, ...any) {}

// openCache opens the Redis cache of answers, if one is configured. It makes no calls.
func (m *Models) openCache() (err error) {
	if m.env.Config.LLM.Cache == "" {
		return nil
	}
	redis.SetLogger(silentRedis{})
	if m.cache, err = rediscache.New(rediscache.Config{URL: llm.Secret(m.env.Config.LLM.Cache)}); err != nil {
		return usage.Errorf("llm.cache: %w", err)
	}
	return nil
}

// answers returns the cache of answers; nil means the database.
func (m *Models) answers() llm.AnswerCache {
	if m.cache == nil {
		return nil
	}
	return m.cache
}

// Unpriced returns the configured models without a known price.
func (m *Models) Unpriced() []string {
	names := []string{}
	for _, m := range m.configuredModels() {
		if !m.Priced() {
			names = append(names, modelName(m))
		}
	}
	return names
}

// jobPruneModels deletes old records of models and of rules.
const jobPruneModels queue.Type[struct{}] = "models.prune"

// keepCalls is how long records of model calls are kept: two whole months, for their costs.
const keepCalls = 92 * 24 * time.Hour

// keepNotices is how long it is known who was told of what: longer than any request for approval waits.
const keepNotices = 2 * 366 * 24 * time.Hour

// keepReasons is how long it is known why mail that came in an absence was not answered.
const keepReasons = 365 * 24 * time.Hour

// KeepSessions is how long a session of 'rules chat' is kept after its last message.
const KeepSessions = 365 * 24 * time.Hour

// Versions of rules that were replaced this long ago are deleted, except this many of the newest of each mailbox.
const (
	keepRules    = 365 * 24 * time.Hour
	keepVersions = 100
)

func (h *App) registerPrune(d *queue.Dispatcher) {
	queue.Handle(d, jobPruneModels, func(ctx context.Context, _ *queue.Work[struct{}]) error {
		_, err := h.Models.Records.Prune(ctx, time.Now().Add(-keepCalls))
		if err == nil {
			_, err = decide.PruneTemplates(ctx, h.DB)
		}
		if err == nil {
			err = notify.Prune(ctx, h.DB, time.Now().Add(-keepNotices))
		}
		if err == nil {
			_, err = away.Prune(ctx, h.DB, time.Now().Add(-keepReasons))
		}
		if err == nil {
			_, err = enrich.Prune(ctx, h.DB, time.Now().Add(-enrichment.Keep))
		}
		return errors.Join(err, h.pruneAgents(ctx), h.PruneRules(ctx, time.Now()))
	})
}

// PruneRules deletes old versions of rules, and old sessions in which rules were written. Versions that decisions
// refer to stay.
func (h *App) PruneRules(ctx context.Context, now time.Time) error {
	chat, err := h.NewRulesChat("")
	if err != nil {
		return err
	}
	if _, err := chat.Prune(ctx, now.Add(-KeepSessions)); err != nil {
		return err
	}
	decided, err := h.Ledger.DecidingRules(ctx)
	if err != nil {
		return err
	}
	inUse := make(map[safety.DecidingRule]bool, len(decided))
	for _, r := range decided {
		inUse[r] = true
	}
	_, err = h.Rules.PruneVersions(ctx, rulestore.VersionPruning{
		Before: now.Add(-keepRules), Keep: keepVersions,
		InUse: func(id, version string) bool { return inUse[safety.DecidingRule{ID: id, Version: version}] },
	})
	return err
}

// pruneSchedule returns the only schedule of the job in the database.
func pruneSchedule() queue.Schedule {
	return queue.Schedule{Name: string(jobPruneModels), Cron: "@every 24h", Job: jobPruneModels.New(struct{}{}, nil)}
}
