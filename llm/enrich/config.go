package enrich

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/calendar"
	"github.com/postroom-go/postroom/queue"
)

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// Queue holds the jobs and, in its database, what is known of the mail; [Migrate] must have prepared it. Required.
	Queue *queue.Queue
	// Messages returns the message to enrich. Required; *mailstore.Store implements it.
	Messages Messages

	// LimitKey returns the limit key of the jobs of an account, whose limit and pause hold for them too; see
	// [queue.Options]. Default nil: they have none.
	LimitKey func(accountID string) string

	// Stages are those that are switched on, in any order. Default nil: all. StageUnsubscribe costs nothing.
	Stages []Stage
	// Categories and Levels are the owner's. Default nil: [DefaultCategories] and [DefaultLevels].
	Categories []Category
	Levels     []Level
	// SureFrom is the confidence from which on a result needs no person: one that equals it is enough. Default 0.8;
	// bounds: above 0, at most 1.
	SureFrom float64

	// Model is asked about what nothing else tells; *decide.Decider implements it. Default nil: it stays open to nobody,
	// and is on record as told by none.
	Model Model
	// ModelAge is how old a message may be that Model is asked about, by when it was received and when its job was made.
	// Default 0: any age.
	ModelAge time.Duration
	// First tells what a host knows already, such as by rules of the owner or from what was learned about a sender; it
	// is asked before anything else. A zero part leaves its stage open. A category or a level that is not on the owner's
	// list is an error. Default nil: it is not asked.
	First func(ctx context.Context, msg *postroom.Message) (Facts, error)
	// Calendars reads the calendars of a message that has such a part. The error [postroom.ErrNotFound] says that they
	// cannot be had any more; others are tried again. Default nil: they are not read, and nobody tells the events of such
	// a message.
	Calendars func(ctx context.Context, msg *postroom.Message) ([]*calendar.Calendar, error)
	// Owner returns the address of the mailbox, whose organization has colleagues. Default nil: nobody is one.
	Owner func(ctx context.Context, accountID string) (string, error)
	// WrittenTo reports whether the owner of the mailbox has written to the address. Default nil: to nobody.
	WrittenTo func(ctx context.Context, accountID, email string) (bool, error)
	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server

	// OnEnded is called when all stages of a message have ended, and when a person has answered about one: it returns
	// what is to be recorded in the transaction that ends the job, such as what rules decide now, or nil. An error is
	// tried again. Default nil: it is not called.
	OnEnded func(ctx context.Context, msg *postroom.Message, e *Enrichment) (record func(ctx context.Context,
		tx queue.Tx) error, err error)

	// Logger logs what has failed for good. Default [slog.Default].
	Logger *slog.Logger
}

// Messages returns a stored message, or [postroom.ErrNotFound].
type Messages interface {
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
}

// A Model answers one question about one message. [decide.ErrNoAnswer] is for good; other errors are those of a
// handler of the queue.
type Model interface {
	Ask(ctx context.Context, msg *postroom.Message, q decide.Question) (postroom.ModelAnswer, error)
}

// A Service enriches mail. It is safe for concurrent use. [New] makes one; the zero Service is unusable.
type Service struct {
	*Store

	cfg Config
}

const defaultSureFrom = 0.8

// New makes a service; a bad configuration is an error that names the field.
func New(cfg Config) (*Service, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	store, err := NewStore(cfg.Queue.DB())
	return &Service{store, cfg}, err
}

func (c Config) withDefaults() Config {
	if c.Stages == nil {
		c.Stages = Stages()
	}
	if c.Categories == nil {
		c.Categories = DefaultCategories()
	}
	if c.Levels == nil {
		c.Levels = DefaultLevels()
	}
	c.Levels = byScore(c.Levels)
	c.SureFrom = cmp.Or(c.SureFrom, defaultSureFrom)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.AuthServer.ID == "" {
		c.AuthServer = authres.Server{ID: "mx.google.com", Below: true}
	}
	return c
}

func (c *Config) validate() error {
	faults := []error{
		fields.Required("llm/enrich: Config.Queue", c.Queue, "one made by queue.New"),
		fields.Required("llm/enrich: Config.Messages", c.Messages, "the store of messages, such as a *mailstore.Store"),
		fields.Optional("llm/enrich: Config.Model", c.Model),
		checkStages(c.Stages), CheckCategories(c.Categories), CheckLevels(c.Levels),
	}
	if !(c.SureFrom > 0 && c.SureFrom <= 1) {
		faults = append(faults, fmt.Errorf("llm/enrich: Config.SureFrom is %v; it must be above 0 and at most 1", c.SureFrom))
	}
	if c.ModelAge < 0 {
		faults = append(faults, fmt.Errorf("llm/enrich: Config.ModelAge is %v; it must be at least 0", c.ModelAge))
	}
	c.Stages = slices.DeleteFunc(Stages(), func(s Stage) bool { return !slices.Contains(c.Stages, s) }) // in their order
	return errors.Join(faults...)
}

func checkStages(stages []Stage) error {
	if len(stages) == 0 {
		return errors.New("llm/enrich: Config.Stages is empty; leave it nil for all of them, or make no Service")
	}
	for _, s := range stages {
		if !slices.Contains(Stages(), s) {
			return fmt.Errorf("llm/enrich: Config.Stages: %q is no stage; they are %v", string(s), Stages())
		}
	}
	return nil
}

// A Category is one of the owner's.
type Category struct {
	Name string
	// Describes says for a model what belongs to the category; required.
	Describes string
	// Forms are the forms of mail that belong to it: such mail needs no model.
	Forms []Form
}

// DefaultCategories returns the categories of an owner who has named none.
func DefaultCategories() []Category {
	return []Category{
		{"personal", "mail that a person has written to the owner, about private matters", []Form{FormCorrespondent}},
		{"work", "mail that a person has written to the owner, about their work", []Form{FormColleague}},
		{"appointments", "invitations, and the answers to them", []Form{FormInvitation}},
		{"receipts", "orders, invoices, payments, tickets and deliveries", []Form{FormReceipt}},
		{"newsletters", "what is written for many readers, who have subscribed to it", []Form{FormNewsletter}},
		{"promotions", "offers and advertisements", []Form{FormPromotion}},
		{"social", "messages of social networks", []Form{FormSocial}},
		{"forums", "discussions of mailing lists", []Form{FormDiscussion}},
		{"notifications", "what programs and accounts report", []Form{FormNotification, FormReport}},
	}
}

// Categories returns the owner's categories.
func (s *Service) Categories() []Category { return slices.Clone(s.cfg.Categories) }

// Levels returns the owner's levels, the highest first.
func (s *Service) Levels() []Level { return slices.Clone(s.cfg.Levels) }

// CheckCategories returns why the categories cannot be an owner's; nil if they can.
func CheckCategories(list []Category) error {
	names, forms := map[string]bool{}, map[Form]string{}
	for _, c := range list {
		switch folded := strings.ToLower(c.Name); {
		case !isName(c.Name):
			return fmt.Errorf("llm/enrich: Config.Categories: the name %q is none; write up to %d characters on one line",
				c.Name, maxName)
		case strings.TrimSpace(c.Describes) == "":
			return fmt.Errorf("llm/enrich: Config.Categories: %q has no Describes; say what belongs to it", c.Name)
		case names[folded]:
			return fmt.Errorf("llm/enrich: Config.Categories: %q is there twice", c.Name)
		default:
			names[folded] = true
		}
		for _, f := range c.Forms {
			if !slices.Contains(Forms(), f) {
				return fmt.Errorf("llm/enrich: Config.Categories: %q has the form %q; they are %v", c.Name, string(f), Forms())
			}
			if other := forms[f]; other != "" {
				return fmt.Errorf("llm/enrich: Config.Categories: the form %s belongs to %q and to %q; give it to one", f, other,
					c.Name)
			}
			forms[f] = c.Name
		}
	}
	if len(list) == 0 {
		return errors.New("llm/enrich: Config.Categories is empty; leave it nil for the default, or switch the stage off")
	}
	return nil
}

// maxName bounds the names of categories and levels, in characters.
const maxName = 40

func isName(name string) bool {
	return name != "" && name == strings.TrimSpace(name) && len([]rune(name)) <= maxName &&
		!strings.ContainsAny(name, "\r\n\t\"\x00")
}

// A Level is one of the owner's levels of importance.
type Level struct {
	Name      string
	Describes string // for a model; required
	// From is the score from which on mail has the level, from 0 to 1. One level has 0.
	From float64
}

// DefaultLevels returns the levels of an owner who has named none.
func DefaultLevels() []Level {
	return []Level{
		{"high", "the owner should see it today: somebody waits for the owner, or something is lost if nothing is done", 0.7},
		{"normal", "the owner should read it", 0.3},
		{"low", "nothing is lost if the owner never reads it", 0},
	}
}

// CheckLevels returns why the levels, in any order, cannot be an owner's; nil if they can.
func CheckLevels(list []Level) error {
	names := map[string]bool{}
	list = byScore(list)
	for i, l := range list {
		switch folded := strings.ToLower(l.Name); {
		case !isName(l.Name):
			return fmt.Errorf("llm/enrich: Config.Levels: the name %q is none; write up to %d characters on one line", l.Name,
				maxName)
		case strings.TrimSpace(l.Describes) == "":
			return fmt.Errorf("llm/enrich: Config.Levels: %q has no Describes; say what belongs to it", l.Name)
		case math.IsNaN(l.From) || l.From < 0 || l.From > 1:
			return fmt.Errorf("llm/enrich: Config.Levels: %q begins at the score %v; it must be from 0 to 1", l.Name, l.From)
		case names[folded]:
			return fmt.Errorf("llm/enrich: Config.Levels: %q is there twice", l.Name)
		case i > 0 && list[i-1].From == l.From:
			return fmt.Errorf("llm/enrich: Config.Levels: %q and %q begin at the same score", list[i-1].Name, l.Name)
		default:
			names[folded] = true
		}
	}
	if len(list) == 0 || list[len(list)-1].From != 0 {
		return errors.New("llm/enrich: Config.Levels has no level from the score 0 on; add one")
	}
	return nil
}

// byScore returns the levels in their order, the highest first.
func byScore(list []Level) []Level {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Level) int { return cmp.Compare(b.From, a.From) })
	return list
}

// level returns the level of a score.
func (c *Config) level(score float64) string {
	i := slices.IndexFunc(c.Levels, func(l Level) bool { return score >= l.From })
	return c.Levels[max(i, 0)].Name
}

// category returns the name of a category as the owner writes it.
func (c *Config) category(name string) (string, bool) {
	i := slices.IndexFunc(c.Categories, func(k Category) bool { return strings.EqualFold(k.Name, name) })
	if i < 0 {
		return "", false
	}
	return c.Categories[i].Name, true
}

func (c *Config) levelNamed(name string) (Level, bool) {
	i := slices.IndexFunc(c.Levels, func(l Level) bool { return strings.EqualFold(l.Name, name) })
	if i < 0 {
		return Level{}, false
	}
	return c.Levels[i], true
}
