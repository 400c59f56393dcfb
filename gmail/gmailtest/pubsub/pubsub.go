// Package pubsub stands in for Google's Pub/Sub in tests: it publishes the notifications of the fake Gmail and pushes
// them to programs by HTTP with signed tokens, and loses, duplicates and delays those that a test chooses. Package
// gmailtest starts it and has the same types under its own names.
package pubsub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/faults"
)

// maxPushes bounds the log of pushes.
const maxPushes = 10_000

var topicName = regexp.MustCompile(`^projects/[a-z][a-z0-9.:-]*/topics/[A-Za-z][A-Za-z0-9._~%+-]{2,254}$`)

// IsTopic reports whether the name is one of a topic: projects/PROJECT/topics/TOPIC.
func IsTopic(name string) bool { return topicName.MatchString(name) }

// A Notification tells the watcher of a mailbox that it has changed.
type Notification struct {
	Topic     string
	Email     string
	HistoryID uint64
}

// Config connects a [Publisher] to its server. Now, Pending and SignIdentity are required.
type Config struct {
	// Now returns the time.
	Now func() time.Time

	// Pending takes the notifications that were not published.
	Pending func(ctx context.Context) ([]Notification, error)

	// SignIdentity returns an identity token with the claims and its issuer.
	SignIdentity func(claims map[string]any) (string, error)

	// Publish publishes a notification to a topic. If it returns an error, the notification is published again. Default
	// nil: notifications go only to the targets.
	Publish func(ctx context.Context, topic string, data []byte) error
}

// A Target receives published notifications by HTTP, like a push subscription of Pub/Sub: a POST with the message as
// JSON and a signed token of OpenID Connect. Without a 2xx response the message is sent again, see [Target.Retry].
type Target struct {
	Topic string // projects/PROJECT/topics/TOPIC
	URL   string

	// Audience is the audience of the token. Default: URL.
	Audience string
	// ServiceAccount is the email address in the token. Default: push@gmailtest.iam.gserviceaccount.com.
	ServiceAccount string
	// Subscription is the subscription name in messages. Default: projects/gmailtest/subscriptions/push.
	Subscription string
	// Retry is the delay before a message is sent again; it doubles up to a minute. Default 100 ms.
	Retry time.Duration
}

// A Push is a delivery of a notification, or an attempt.
type Push struct {
	Topic     string `json:"topic"`
	Email     string `json:"email"`
	HistoryID uint64 `json:"history_id"`
	MessageID string `json:"message_id"` // of Pub/Sub; a duplicate has the same
	URL       string `json:"url"`        // empty: passed to Config.Publish
	Status    int    `json:"status"`     // of the response; 0 if there was none
	Lost      bool   `json:"lost"`       // by a fault
}

// A Fault is a fault of some notifications. They are counted in the order of their publishing.
type Fault struct {
	// Nth is the first affected notification, counted from 1 since the fault was set. Zero means 1.
	Nth int
	// Times is the number of consecutive notifications. Zero means 1; a negative number means all further ones.
	Times int

	// Lose drops the notification.
	Lose bool
	// Copies is the number of additional deliveries.
	Copies int
	// Gate holds the notification until it is opened, while later ones pass.
	Gate *faults.Gate
}

type countedFault struct {
	Fault
	seen int
}

// A Publisher delivers notifications. It is safe for concurrent use.
type Publisher struct {
	cfg        Config
	wake       chan struct{}   // holds one value if there may be notifications
	ctx        context.Context //nolint:containedctx // the life of the publisher
	cancel     context.CancelFunc
	client     *http.Client
	delivering sync.WaitGroup

	mu      sync.Mutex
	targets []Target
	faults  []*countedFault
	pushes  []Push
	lastID  int64 // of a message
}

// New returns a publisher that is not running.
func New(cfg Config) *Publisher {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	p := &Publisher{cfg: cfg, wake: make(chan struct{}, 1), client: client}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Start publishes in the background until [Publisher.Stop] is called.
func (p *Publisher) Start() { p.delivering.Go(p.run) }

// Stop ends all deliveries. Undelivered notifications are lost.
func (p *Publisher) Stop() {
	p.cancel()
	p.delivering.Wait()
}

// PushTo adds a target for notifications that are published to its topic from now on.
func (p *Publisher) PushTo(target Target) error {
	if !IsTopic(target.Topic) {
		return fmt.Errorf("gmailtest: PushTarget.Topic is %q; write projects/PROJECT/topics/TOPIC", target.Topic)
	}
	if target.URL == "" {
		return errors.New("gmailtest: PushTarget.URL is empty; give the address of the program that receives notifications")
	}
	setDefault(&target.Audience, target.URL)
	setDefault(&target.ServiceAccount, "push@gmailtest.iam.gserviceaccount.com")
	setDefault(&target.Subscription, "projects/gmailtest/subscriptions/push")
	if target.Retry <= 0 {
		target.Retry = 100 * time.Millisecond
	}
	p.mu.Lock()
	p.targets = append(p.targets, target)
	p.mu.Unlock()
	return nil
}

func setDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// Fault adds faults of notifications. If several select one, the first that is due applies.
func (p *Publisher) Fault(list ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range list {
		fault.Nth = max(fault.Nth, 1)
		if fault.Times == 0 {
			fault.Times = 1
		}
		p.faults = append(p.faults, &countedFault{Fault: fault})
	}
}

// ClearFaults removes all faults of notifications, and opens their gates.
func (p *Publisher) ClearFaults() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		if fault.Gate != nil {
			fault.Gate.Open()
		}
	}
	p.faults = nil
}

// Pushes returns the last deliveries of notifications, including attempts, in the order in which they ended: at least
// 5,000, if there were as many.
func (p *Publisher) Pushes() []Push {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.pushes)
}

// Wake lets the publisher look for notifications.
func (p *Publisher) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Publisher) run() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
			p.drain()
		}
	}
}

func (p *Publisher) drain() {
	pending, err := p.cfg.Pending(p.ctx)
	if err != nil {
		return // the server is closing, or the next change wakes it again
	}
	for _, n := range pending {
		p.publish(n)
	}
}

// publish sends one notification, and does not wait for its delivery.
func (p *Publisher) publish(n Notification) {
	push := Push{Topic: n.Topic, Email: n.Email, HistoryID: n.HistoryID}
	p.mu.Lock()
	fault := p.due()
	targets := slices.Clone(p.targets)
	p.lastID = max(p.lastID+1, p.cfg.Now().UnixNano()) // a clock may stand still
	push.MessageID = strconv.FormatInt(p.lastID, 10)
	p.mu.Unlock()
	if fault.Lose {
		push.Lost = true
		p.note(push)
		return
	}
	for range fault.Copies + 1 {
		p.delivering.Go(func() {
			if !fault.Gate.Pass(p.ctx) {
				return
			}
			p.hand(push)
			for _, target := range targets {
				if target.Topic == push.Topic {
					p.delivering.Go(func() { p.deliver(target, push) })
				}
			}
		})
	}
}

// due returns the fault of the next notification. The caller must hold the lock.
func (p *Publisher) due() (due Fault) {
	found := false
	for _, fault := range p.faults {
		fault.seen++
		if !found && fault.seen >= fault.Nth && (fault.Times < 0 || fault.seen < fault.Nth+fault.Times) {
			due, found = fault.Fault, true
		}
	}
	return due
}

func (p *Publisher) note(push Push) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pushes) >= maxPushes {
		p.pushes = slices.Delete(p.pushes, 0, maxPushes/2)
	}
	p.pushes = append(p.pushes, push)
}

// data returns the content of a notification in Gmail's form.
func (push *Push) data() []byte {
	text, _ := json.Marshal(struct { //nolint:errchkjson // a text and a number
		EmailAddress string `json:"emailAddress"`
		HistoryID    uint64 `json:"historyId"`
	}{push.Email, push.HistoryID})
	return text
}

// hand passes the notification to Config.Publish until it is accepted.
func (p *Publisher) hand(push Push) {
	if p.cfg.Publish == nil {
		return
	}
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, time.Minute) {
		if p.cfg.Publish(p.ctx, push.Topic, push.data()) == nil {
			p.note(push)
			return
		}
		if !p.sleep(delay) {
			return
		}
	}
}

// deliver posts the notification until it is acknowledged.
func (p *Publisher) deliver(target Target, push Push) {
	push.URL = target.URL
	for delay := target.Retry; ; delay = min(2*delay, time.Minute) {
		push.Status = p.post(target, push)
		if p.ctx.Err() != nil {
			return
		}
		p.note(push)
		if push.Status >= 200 && push.Status < 300 || !p.sleep(delay) {
			return
		}
	}
}

func (p *Publisher) sleep(delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// post returns the status of the response, or 0 if there is none.
func (p *Publisher) post(target Target, push Push) int {
	var body struct {
		Message struct {
			Data        []byte `json:"data"`
			MessageID   string `json:"messageId"`
			PublishTime string `json:"publishTime"`
		} `json:"message"`
		Subscription string `json:"subscription"`
	}
	now := p.cfg.Now().UTC()
	body.Message.Data, body.Message.MessageID, body.Message.PublishTime = push.data(), push.MessageID,
		now.Format(time.RFC3339Nano)
	body.Subscription = target.Subscription
	text, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	token, err := p.cfg.SignIdentity(map[string]any{
		"aud": target.Audience, "azp": target.ServiceAccount, "sub": target.ServiceAccount,
		"email": target.ServiceAccount, "email_verified": true, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return 0
	}
	request, err := http.NewRequestWithContext(p.ctx, http.MethodPost, target.URL, bytes.NewReader(text))
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	return response.StatusCode
}
