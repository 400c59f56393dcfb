package pubsub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	cloud "cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/fields"
)

// Config configures a [Puller]. It is copied and checked once, by [New].
type Config struct {
	// Receiver handles the notifications. Required.
	Receiver *gmail.Receiver
	// Project is the id of the subscription's project. Required, unless Subscription is a full name.
	Project string
	// Subscription is the id of the subscription, or its full name: projects/PROJECT/subscriptions/ID. Required.
	Subscription string

	// MaxOutstanding bounds the unacknowledged messages. Default 100; bounds 1 to 10,000.
	MaxOutstanding int
	// RetryDelay is how long a message that could not be enqueued is held before it is redelivered. It keeps messages from
	// circulating at full speed while the database is down. Default 1 second; it must not be negative.
	RetryDelay time.Duration
	// Options are the options of the Pub/Sub client, such as credentials. Default: Application Default Credentials.
	Options []option.ClientOption
	// Logger logs messages that could not be enqueued. Default [slog.Default].
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	faults := []error{fields.Required("pubsub: Config.Receiver", c.Receiver, "a receiver made by gmail.NewReceiver")}
	if parts := strings.Split(c.Subscription, "/"); len(parts) == 4 && parts[0] == "projects" &&
		parts[2] == "subscriptions" {
		c.Project, c.Subscription = parts[1], parts[3]
	}
	if c.Subscription == "" || strings.Contains(c.Subscription, "/") {
		faults = append(faults, fmt.Errorf(
			"pubsub: Config.Subscription is %q; give the id of a subscription, or projects/PROJECT/subscriptions/ID",
			c.Subscription))
	}
	if c.Project == "" {
		faults = append(faults, errors.New(
			"pubsub: Config.Project is empty; give the id of the project that has the subscription"))
	}
	c.MaxOutstanding = cmp.Or(c.MaxOutstanding, 100)
	if c.MaxOutstanding < 1 || c.MaxOutstanding > 10_000 {
		faults = append(faults, fmt.Errorf("pubsub: Config.MaxOutstanding is %d; it must be within 1 and 10000",
			c.MaxOutstanding))
	}
	c.RetryDelay = cmp.Or(c.RetryDelay, time.Second)
	if c.RetryDelay < 0 {
		faults = append(faults, fmt.Errorf("pubsub: Config.RetryDelay is %v; it must be positive, or 0 for the default",
			c.RetryDelay))
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, errors.Join(faults...)
}

// A Puller pulls notifications. [New] makes one; the zero Puller is unusable.
type Puller struct {
	cfg        Config
	client     *cloud.Client
	subscriber *cloud.Subscriber
}

// New makes a puller. It returns an error that names the fields of a bad configuration. It does not contact the
// server. Call [Puller.Close] at the end.
func New(ctx context.Context, cfg Config) (*Puller, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	client, err := cloud.NewClient(ctx, cfg.Project, cfg.Options...)
	if err != nil {
		return nil, fmt.Errorf("pubsub: %w; %s", err, hintCredentials)
	}
	p := &Puller{cfg: cfg, client: client, subscriber: client.Subscriber(cfg.Subscription)}
	p.subscriber.ReceiveSettings.MaxOutstandingMessages = cfg.MaxOutstanding
	p.subscriber.ReceiveSettings.ShutdownOptions = &cloud.ShutdownOptions{
		Behavior: cloud.ShutdownBehaviorWaitForProcessing, Timeout: shutdownTimeout,
	}
	return p, nil
}

// shutdownTimeout bounds how long Run continues after the end of its context to acknowledge messages whose jobs were
// enqueued.
const shutdownTimeout = 10 * time.Second

// Run pulls until ctx is done, and then returns nil. It recovers from lost connections. It returns an error only if a
// person must act, such as [ErrNoSubscription] and [ErrNotAllowed]; the error has a hint. Run can be called again
// after it.
func (p *Puller) Run(ctx context.Context) error {
	if err := p.subscriber.Receive(ctx, p.take); ctx.Err() == nil {
		return p.explain(err)
	}
	return nil
}

// Close closes the connection. Call it after Run has returned.
func (p *Puller) Close() error { return p.client.Close() }

// take acknowledges a message whose job is durable, or that is invalid: the receiver has logged it, and it would be
// redelivered forever.
func (p *Puller) take(ctx context.Context, m *cloud.Message) {
	err := p.cfg.Receiver.Receive(ctx, m.Data)
	if err == nil {
		m.Ack()
		return
	}
	if ctx.Err() == nil {
		p.cfg.Logger.ErrorContext(ctx, "a notification could not be enqueued and is to be delivered again", "message",
			m.ID, "error", err)
	}
	later := time.NewTimer(p.cfg.RetryDelay)
	defer later.Stop()
	select {
	case <-later.C:
	case <-ctx.Done():
	}
	m.Nack()
}
