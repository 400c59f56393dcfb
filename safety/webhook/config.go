package webhook

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/publichttp"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// Config configures a [Sender]. It is copied and checked once, by [New].
type Config struct {
	// Ledger has the requests for approval. Required.
	Ledger *safety.Ledger

	// URL is the address that receives events. Required; https, unless AllowPrivate is set.
	URL string

	// Secret signs events. It is "whsec_" and 24 to 64 bytes in base64, as in Standard Webhooks. Required.
	Secret string

	// AllowPrivate permits an http URL, and addresses that are not public, such as those of this machine.
	AllowPrivate bool

	// ReadNotice completes a [Notice] that has no text: jobs need not hold the words of mail. Default nil.
	ReadNotice func(ctx context.Context, n Notice) (Notice, error)

	// Timeout bounds one attempt. Default 15 s; bounds 1 s to 5 min.
	Timeout time.Duration
}

const (
	secretPrefix   = "whsec_"
	minSecret      = 24
	maxSecret      = 64
	defaultTimeout = 15 * time.Second
	maxTimeout     = 5 * time.Minute
)

// CheckSecret returns an error that describes a valid secret if s is not one.
func CheckSecret(s string) error {
	_, err := decodeSecret(s)
	return err
}

func decodeSecret(s string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(s, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < minSecret || len(key) > maxSecret {
		return nil, fmt.Errorf("it is no secret; write %s and %d to %d bytes in base64", secretPrefix, minSecret, maxSecret)
	}
	return key, nil
}

// CheckURL returns an error that describes the fault of a webhook's address. If private is true, it may be http.
func CheckURL(s string, private bool) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("it is no address; write one that begins with https://, without user or fragment")
	case u.Scheme == "http" && !private:
		return errors.New("it is not encrypted; write one that begins with https://")
	}
	return nil
}

// A Sender sends events. [New] makes one; it is safe for concurrent use.
type Sender struct {
	cfg    Config
	key    []byte
	client *http.Client
}

// New makes a sender. It returns an error that names the field of a bad configuration. No error contains the secret.
func New(cfg Config) (*Sender, error) {
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	faults := []error{fields.Required("webhook: Config.Ledger", cfg.Ledger, "a ledger made by safety.NewLedger")}
	if err := CheckURL(cfg.URL, cfg.AllowPrivate); err != nil {
		faults = append(faults, fmt.Errorf("webhook: Config.URL: %w", err))
	}
	key, err := decodeSecret(cfg.Secret)
	if err != nil {
		faults = append(faults, fmt.Errorf("webhook: Config.Secret: %w", err))
	}
	if cfg.Timeout < time.Second || cfg.Timeout > maxTimeout {
		faults = append(faults, fmt.Errorf("webhook: Config.Timeout is %v; it must be within 1s and %v",
			cfg.Timeout, maxTimeout))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Sender{cfg: cfg, key: key, client: publichttp.NewClient(cfg.Timeout, cfg.AllowPrivate)}, nil
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Register registers the handlers of [JobDeliver], [JobReauthorize], [JobNotAsked] and [JobNotice] with the options. By
// default a failed delivery is retried after the delays of [queue.SlowRetry].
func Register(d *queue.Dispatcher, s *Sender, opts ...queue.HandlerOption) error {
	err := errors.Join(
		fields.Required("webhook: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		fields.Required("webhook: Register: the Sender", s, "one made by New"),
	)
	if err != nil {
		return err
	}
	opts = append([]queue.HandlerOption{queue.WithRetry(queue.SlowRetry)}, opts...)
	queue.Handle(d, JobDeliver, s.deliver, opts...)
	queue.Handle(d, JobReauthorize, s.reauthorize, opts...)
	queue.Handle(d, JobNotAsked, s.notAsked, opts...)
	queue.Handle(d, JobNotice, s.notice, opts...)
	return nil
}
