package decide

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of [Templates], llm_templates, or brings it up to date. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm/decide: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm/decide", migrations)
}

// TemplatesConfig configures [Templates]. It is copied and checked once, by [NewTemplates].
type TemplatesConfig struct {
	// DB holds the decisions. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Keep is how long a decision is taken again. Default 30 days; bounds 1 minute to 365 days.
	Keep time.Duration
	// Scope names the decider, such as the models: a decision is reused only under the scope that it was made under.
	Scope string
	// Stands reports whether an earlier decision about a message still stands: a person who has rejected or undone it does
	// not want it again. It is called before each reuse. Default nil: it stands.
	Stands func(ctx context.Context, accountID, messageID string) (bool, error)
	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server
}

const (
	defaultTemplateKeep = 30 * 24 * time.Hour
	maxTemplateKeep     = 365 * 24 * time.Hour
)

// Templates are decisions that a [Decider] reuses for mails that a program has made from the same template, so that the
// hundredth copy of a newsletter costs nothing.
//
// Mails have the same template if they have the same authenticated sender and list, link to the same places, and have
// the same text except for numbers, identifiers, the queries of addresses and the names of the recipient, under the
// same directions, rules, labels and actions. Zero differs from all other numbers. Mail with attachments, with hidden
// text, or that seems to be written by a person has no template. A decision is reused only if it can be undone,
// requests no approval, and has no parameters except labels; the decision says so and names the mail that the model was
// asked about.
type Templates struct{ cfg TemplatesConfig }

// NewTemplates makes templates; a bad configuration is an error that names the field.
func NewTemplates(cfg TemplatesConfig) (*Templates, error) {
	if err := fields.Required("llm/decide: TemplatesConfig.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	if cfg.Keep == 0 {
		cfg.Keep = defaultTemplateKeep
	}
	if cfg.Keep < time.Minute || cfg.Keep > maxTemplateKeep {
		return nil, fmt.Errorf("llm/decide: TemplatesConfig.Keep is %v; it must be within 1m and %v", cfg.Keep, maxTemplateKeep)
	}
	if cfg.AuthServer.ID == "" {
		cfg.AuthServer = gmailServer
	}
	return &Templates{cfg: cfg}, nil
}

// A template is a decision with the mail that it was made about.
type template struct {
	MessageID string      `db:"message_id"`
	Decision  string      `db:"decision"`
	MadeAt    dbtime.Time `db:"made_at"`
}

// templateDecision is the stored part of a decision.
type templateDecision struct {
	Action       postroom.ActionType   `json:"action"`
	Parameters   postroom.Parameters   `json:"parameters,omitempty"`
	Confidence   float64               `json:"confidence"`
	Rationale    string                `json:"rationale"`
	Explanations postroom.Explanations `json:"explanations"`
	Model        string                `json:"model"`
}

// find returns the decision about a mail of the same template, or nil.
func (t *Templates) find(ctx context.Context, msg *postroom.Message, key string) (*postroom.Decision, error) {
	var kept template
	err := dbquery.Get(ctx, t.cfg.DB.Reader(), &kept, sqlTemplate, msg.AccountID, key, dbtime.Of(time.Now()))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && kept.MessageID == msg.ID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for a decision about mail of the same template: %w", err)
	}
	var d templateDecision
	if json.Unmarshal([]byte(kept.Decision), &d) != nil {
		return nil, nil //nolint:nilerr // what cannot be read is decided about again
	}
	if t.cfg.Stands != nil {
		stands, err := t.cfg.Stands(ctx, msg.AccountID, kept.MessageID)
		if err != nil {
			return nil, fmt.Errorf("ask whether the decision about message %s stands: %w", kept.MessageID, err)
		}
		if !stands {
			return nil, nil
		}
	}
	return d.again(&kept), t.count(ctx, msg.AccountID, key)
}

// again is the decision about another mail of the template.
func (d *templateDecision) again(kept *template) *postroom.Decision {
	features := []string{fmt.Sprintf("the same template as message %s, which the model was asked about on %s", kept.MessageID, kept.MadeAt.UTC().Format(time.DateOnly))}
	explanations := d.Explanations
	explanations.SalientFeatures = append(features, explanations.SalientFeatures...)
	return &postroom.Decision{
		Action: d.Action, Parameters: d.Parameters, Confidence: d.Confidence, Source: postroom.SourceModel, Model: d.Model,
		Rationale:    "As about message " + kept.MessageID + ", which is of the same template: " + d.Rationale,
		Explanations: explanations,
	}
}

func (t *Templates) count(ctx context.Context, accountID, key string) error {
	err := t.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, sqlUseTemplate, accountID, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("count the use of a decision: %w", err)
	}
	return nil
}

// keep keeps a decision for the mails to come.
func (t *Templates) keep(ctx context.Context, msg *postroom.Message, key string, d *postroom.Decision) error {
	encoded, err := json.Marshal(templateDecision{d.Action, d.Parameters, d.Confidence, d.Rationale, d.Explanations, d.Model})
	if err != nil {
		return fmt.Errorf("keep the decision about message %s: %w", msg.ID, err)
	}
	err = t.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := queue.Now(tx)
		_, err := tx.ExecContext(ctx, sqlKeepTemplate, msg.AccountID, key, msg.ID, dbvalue.Clean(string(encoded)), 0, dbtime.Of(now), dbtime.Of(now.Add(t.cfg.Keep)))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the decision about message %s: %w", msg.ID, err)
	}
	return nil
}

// PruneTemplates deletes the decisions of [Templates] that have expired, and returns their number.
func PruneTemplates(ctx context.Context, db queue.DB) (int, error) {
	n, err := dbquery.DeleteInBatches(ctx, db, sqlPruneTemplates, dbtime.Of(time.Now()))
	if err != nil {
		return n, fmt.Errorf("prune the decisions about templates: %w", err)
	}
	return n, nil
}

// repeatable reports whether a decision may be taken again: it is exact about no one mail, and can be undone.
func repeatable(d *postroom.Decision, kinds *postroom.Kinds) bool {
	kind, ok := kinds.Kind(d.Action)
	switch {
	case !ok || d.NeedsApproval || kind.Danger == postroom.Dangerous:
		return false
	case d.Action == postroom.None:
		return true
	case !kind.Reversible():
		return false
	}
	labels, _ := kind.TakesLabel()
	for name := range d.Parameters {
		if !slices.Contains(labels, name) {
			return false
		}
	}
	return true
}

// templateKey names the decision about mails of a template under the guidance of a prompt; false for mail that is
// decided about by itself.
func (d *Decider) templateKey(msg *postroom.Message, p *Prompt) (key string, ok bool) {
	if d.cfg.Templates == nil {
		return "", false
	}
	parts, ok := templateOf(msg, d.cfg.Templates.cfg.AuthServer)
	if !ok {
		return "", false
	}
	told := make([]string, 0, len(p.Layers))
	for _, l := range p.Layers {
		if l.Name != layerMessage {
			told = append(told, strings.ReplaceAll(l.Text, p.mark, ""))
		}
	}
	encoded, err := json.Marshal([][]string{{d.cfg.Templates.cfg.Scope}, told, parts})
	if err != nil {
		return "", false // texts are always JSON
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), true
}

// decideTemplate reuses a decision, or asks the model and stores its decision.
func (d *Decider) decideTemplate(ctx context.Context, msg *postroom.Message, guidance Guidance, p *Prompt, key string) (postroom.Decision, error) {
	kept, err := d.cfg.Templates.find(ctx, msg, key)
	if err != nil {
		return postroom.Decision{}, err
	}
	if kept != nil && repeatable(kept, d.cfg.Kinds) && kept.Validate(d.cfg.Kinds, time.Now()) == nil {
		return *kept, nil
	}
	decision, err := d.ask(ctx, msg, guidance, p)
	if err == nil && repeatable(&decision, d.cfg.Kinds) {
		err = d.cfg.Templates.keep(ctx, msg, key, &decision)
	}
	return decision, err
}
