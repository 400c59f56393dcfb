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
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of [Templates] and [Turns], llm_templates and llm_turns, or brings them up to
// date. Call it at every start; several processes may do so at once.
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
	// Records, if not nil, have each reuse on record beside the calls of the models. Default nil.
	Records *llm.Records
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
// Mails have the same template if they have the same authenticated sender and recipients, and the same text and links
// except for numbers, dates and identifiers, under the same directions, rules, labels and actions. An identifier has
// digits and no four letters in a row. Amounts of money, decimal numbers, and the names of hosts and files differ with
// each mail, and zero differs from all other numbers. Mail with attachments, with hidden text, or that seems to be
// written by a person has no template.
//
// A decision to do nothing, to star, or to add or remove a label is reused after the model made it once. A decision to
// archive or to mark as read is reused after the model made it about three mails of the template, all of them of a list
// and authenticated by DMARC. Other decisions are never reused, nor are those that request approval. A reused decision
// says so and names the mail that the model was asked about.
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
		return nil, fmt.Errorf("llm/decide: TemplatesConfig.Keep is %v; it must be within 1m and %v", cfg.Keep,
			maxTemplateKeep)
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
	// Newsletters are the mails of a list, at most [leastNewsletters], about which the model has decided so.
	Newsletters []string `json:"newsletters,omitempty"`

	Action       postroom.ActionType   `json:"action"`
	Parameters   postroom.Parameters   `json:"parameters,omitempty"`
	Confidence   float64               `json:"confidence"`
	Rationale    string                `json:"rationale"`
	Explanations postroom.Explanations `json:"explanations"`
	Model        string                `json:"model"`
}

// leastNewsletters is how many mails the model must have decided about in the same way before a decision that hides
// mail is reused: the text of one mail decides about no other.
const leastNewsletters = 3

// find returns the decision about a mail of the same template that stands, and the mail that it was made about; nil if
// there is none.
func (t *Templates) find(ctx context.Context, msg *postroom.Message, key string) (*templateDecision, *template, error) {
	var kept template
	err := dbquery.Get(ctx, t.cfg.DB.Reader(), &kept, sqlTemplate, msg.AccountID, key, dbtime.Of(time.Now()))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && kept.MessageID == msg.ID:
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("look for a decision about mail of the same template: %w", err)
	}
	var d templateDecision
	if json.Unmarshal([]byte(kept.Decision), &d) != nil {
		return nil, nil, nil //nolint:nilerr // what cannot be read is decided about again
	}
	about := d.Newsletters
	if !slices.Contains(about, kept.MessageID) {
		about = append(slices.Clone(about), kept.MessageID)
	}
	for _, id := range about {
		if stands, err := t.stands(ctx, msg.AccountID, id); err != nil || !stands {
			return nil, nil, err
		}
	}
	return &d, &kept, nil
}

func (t *Templates) stands(ctx context.Context, accountID, messageID string) (bool, error) {
	if t.cfg.Stands == nil {
		return true, nil
	}
	stands, err := t.cfg.Stands(ctx, accountID, messageID)
	if err != nil {
		return false, fmt.Errorf("ask whether the decision about message %s stands: %w", messageID, err)
	}
	return stands, nil
}

// reusable reports whether the decision may be taken again for a mail of the template.
func (d *templateDecision) reusable(mail mailTemplate, kinds *postroom.Kinds) bool {
	decision := d.decision()
	if !repeatable(decision, kinds) || decision.Validate(kinds, time.Now()) != nil {
		return false
	}
	return !hides(d.Action) || mail.newsletter && len(d.Newsletters) >= leastNewsletters
}

// decision is the decision that the model made.
func (d *templateDecision) decision() *postroom.Decision {
	return &postroom.Decision{
		Action: d.Action, Parameters: d.Parameters, Confidence: d.Confidence, Source: postroom.SourceModel, Model: d.Model,
		Rationale: d.Rationale, Explanations: d.Explanations,
	}
}

// again is the decision about another mail of the template.
func (d *templateDecision) again(kept *template) *postroom.Decision {
	same := fmt.Sprintf("the same template as message %s, which the model was asked about on %s",
		kept.MessageID, kept.MadeAt.UTC().Format(time.DateOnly))
	again := d.decision()
	again.Rationale = "As about message " + kept.MessageID + ", which is of the same template: " + d.Rationale
	again.Explanations.SalientFeatures = append([]string{same}, d.Explanations.SalientFeatures...)
	return again
}

// count records that the decision about an earlier mail is taken again for a message.
func (t *Templates) count(ctx context.Context, msg *postroom.Message, key string, p *Prompt, d *templateDecision,
	kept *template) error {
	err := t.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, sqlUseTemplate, msg.AccountID, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("count the use of a decision: %w", err)
	}
	if t.cfg.Records == nil {
		return nil
	}
	return t.cfg.Records.RecordReuse(ctx, llm.ReusedAnswer{AccountID: msg.AccountID, Purpose: purpose, Model: d.Model,
		About: msg.ID, Of: kept.MessageID, Prompt: p.Hash, Answer: string(d.Action) + ": " + d.Rationale,
		Why: llm.SameTemplate})
}

// keep keeps a decision for the mails to come. The newsletters are those that the model has decided about in the same
// way.
func (t *Templates) keep(
	ctx context.Context, msg *postroom.Message, key string, d *postroom.Decision, newsletters []string,
) error {
	encoded, err := json.Marshal(templateDecision{newsletters, d.Action, d.Parameters, d.Confidence, d.Rationale,
		d.Explanations, d.Model})
	if err != nil {
		return fmt.Errorf("keep the decision about message %s: %w", msg.ID, err)
	}
	err = t.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := queue.Now(tx)
		_, err := tx.ExecContext(ctx, sqlKeepTemplate, msg.AccountID, key, msg.ID, dbvalue.Clean(string(encoded)), 0,
			dbtime.Of(now), dbtime.Of(now.Add(t.cfg.Keep)))
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

// repeatable reports whether a decision may be taken again at all: it is exact about no one mail, can be undone at any
// time, and leaves the mail where it is or archives it.
func repeatable(d *postroom.Decision, kinds *postroom.Kinds) bool {
	kind, ok := kinds.Kind(d.Action)
	if !ok || d.NeedsApproval || d.Confidence == 0 || kind.Danger == postroom.Dangerous {
		return false
	}
	labels, _ := kind.TakesLabel()
	for name := range d.Parameters {
		if !slices.Contains(labels, name) {
			return false
		}
	}
	switch d.Action {
	case postroom.None, postroom.ApplyLabel, postroom.RemoveLabel, postroom.Star, postroom.Unstar, postroom.MarkUnread:
		return true
	default: // what a host's own action does is unknown
		return hides(d.Action)
	}
}

// hides reports whether a repeatable action hides the mail from its reader.
func hides(a postroom.ActionType) bool { return a == postroom.Archive || a == postroom.MarkRead }

// templateKey names the decision about mails of a template under the guidance of a prompt; false for mail that is
// decided about by itself.
func (d *Decider) templateKey(msg *postroom.Message, body *htmltext.Body, p *Prompt) (
	mail mailTemplate, key string, ok bool,
) {
	if d.cfg.Templates == nil {
		return mail, "", false
	}
	if mail, ok = templateOf(msg, body, d.cfg.Templates.cfg.AuthServer); !ok {
		return mail, "", false
	}
	told := make([]string, 0, len(p.Layers))
	for _, l := range p.Layers {
		if l.Name != layerMessage {
			told = append(told, strings.ReplaceAll(l.Text, p.mark, ""))
		}
	}
	encoded, err := json.Marshal([][]string{{d.cfg.Templates.cfg.Scope}, told, mail.parts})
	if err != nil {
		return mail, "", false // texts are always JSON
	}
	sum := sha256.Sum256(encoded)
	return mail, hex.EncodeToString(sum[:]), true
}

// decideTemplate reuses a decision, or asks the model and stores its decision.
func (d *Decider) decideTemplate(ctx context.Context, msg *postroom.Message, guidance Guidance, p *Prompt,
	mail mailTemplate, key string) (postroom.Decision, error) {
	templates := d.cfg.Templates
	kept, about, err := templates.find(ctx, msg, key)
	if err != nil {
		return postroom.Decision{}, err
	}
	if kept != nil && kept.reusable(mail, d.cfg.Kinds) {
		return *kept.again(about), templates.count(ctx, msg, key, p, kept, about)
	}
	decision, err := d.ask(ctx, msg, guidance, p)
	if err != nil || !repeatable(&decision, d.cfg.Kinds) {
		return decision, err
	}
	var newsletters []string
	if mail.newsletter {
		if kept != nil && sameAction(kept, &decision) {
			newsletters = kept.Newsletters
		}
		self := func(id string) bool { return id == msg.ID }
		newsletters = append(slices.DeleteFunc(slices.Clone(newsletters), self), msg.ID)
		newsletters = newsletters[max(0, len(newsletters)-leastNewsletters):]
	}
	return decision, templates.keep(ctx, msg, key, &decision, newsletters)
}

// sameAction reports whether two decisions do the same.
func sameAction(a *templateDecision, b *postroom.Decision) bool {
	if a.Action != b.Action || len(a.Parameters) != len(b.Parameters) {
		return false
	}
	for name := range a.Parameters {
		one, _ := a.Parameters.Text(name)
		if other, ok := b.Parameters.Text(name); !ok || one != other {
			return false
		}
	}
	return true
}
