package gmail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// A PushConfig configures a [PushHandler]. It is copied and checked once, by [NewPushHandler].
type PushConfig struct {
	// Receiver takes the notifications. Required.
	Receiver *Receiver
	// Audience is the audience of the push subscription: tokens must be for it. Required.
	Audience string
	// ServiceAccount is the e-mail address of the account that the push subscription signs as. Required: anybody can have
	// Google sign a token for the audience.
	ServiceAccount string

	// Issuers are the accepted issuers of tokens. Default Google.
	Issuers []string
	// KeysURL is the address of the issuers' public keys (RFC 7517). Default Google's.
	KeysURL string
	// HTTPClient fetches the keys. Default: one with a timeout of 10 seconds.
	HTTPClient *http.Client
	// Logger logs refused and dropped messages. Default [slog.Default].
	Logger *slog.Logger
}

// A PushHandler receives the requests of a Pub/Sub push subscription. It verifies the OpenID Connect token of the
// request (signature, time, audience, issuer, service account) and answers 204 when the job is durable. It also
// answers 204 if there is nothing to do, such as for a message that cannot be parsed, which would be delivered again
// for ever. It answers 401 to a bad token, and 503 if the keys or the database are unavailable, so that the message
// is delivered again.
//
// A body of more than 1 MiB is dropped: a notification of Gmail has a few hundred bytes.
type PushHandler struct {
	cfg  PushConfig
	keys *keyCache
}

// NewPushHandler makes a handler; a bad configuration is an error that names the field.
func NewPushHandler(cfg PushConfig) (*PushHandler, error) {
	faults := []error{fields.Required("gmail: PushConfig.Receiver", cfg.Receiver, "a receiver made by NewReceiver")}
	if cfg.Audience == "" {
		faults = append(faults, errors.New("gmail: PushConfig.Audience is empty; give the audience of the push subscription"))
	}
	if cfg.ServiceAccount == "" {
		faults = append(faults, errors.New(
			"gmail: PushConfig.ServiceAccount is empty; give the address that the push subscription signs as"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(cfg.Issuers) == 0 {
		cfg.Issuers = []string{"https://accounts.google.com", "accounts.google.com"}
	}
	cfg.Issuers = slices.Clone(cfg.Issuers)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cache := &keyCache{url: cmp.Or(cfg.KeysURL, googleKeys), client: cfg.HTTPClient}
	if cache.client == nil {
		cache.client = &http.Client{Timeout: keyTimeout}
	}
	return &PushHandler{cfg: cfg, keys: cache}, nil
}

// maxPush bounds the body of a push.
const maxPush = 1 << 20

// ServeHTTP implements [http.Handler].
func (h *PushHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Pub/Sub posts its messages", http.StatusMethodNotAllowed)
		return
	}
	if err := h.authorize(r); err != nil {
		status := http.StatusUnauthorized
		if errors.Is(err, errNoKeys) {
			status = http.StatusServiceUnavailable
		}
		h.cfg.Logger.WarnContext(r.Context(), "a push is refused", "status", status, "error", err)
		http.Error(w, http.StatusText(status), status)
		return
	}
	data, err := pushData(http.MaxBytesReader(w, r.Body, maxPush))
	if cut := (*http.MaxBytesError)(nil); err != nil && !errors.Is(err, errUnreadable) && !errors.As(err, &cut) {
		http.Error(w, "the body is cut short", http.StatusBadRequest)
		return
	}
	if err != nil {
		h.cfg.Logger.WarnContext(r.Context(), "a push cannot be read and is dropped", "error", err)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := h.cfg.Receiver.Receive(r.Context(), data); err != nil {
		h.cfg.Logger.ErrorContext(r.Context(), "a push could not be enqueued and is to be delivered again", "error", err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

var errUnreadable = errors.New("gmail: push: not a message of Pub/Sub")

// pushData returns the data of the message that a push wraps.
func pushData(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	var push struct {
		Message struct {
			Data []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(text, &push); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return push.Message.Data, nil
}

// authorize verifies the token of the request.
func (h *PushHandler) authorize(r *http.Request) error {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return errors.New("no bearer token; enable authentication of the push subscription")
	}
	claims, err := h.keys.verify(r.Context(), strings.TrimSpace(text))
	switch {
	case err != nil:
		return err
	case claims.Audience != h.cfg.Audience:
		return fmt.Errorf("the token is for the audience %q", claims.Audience)
	case !slices.Contains(h.cfg.Issuers, claims.Issuer):
		return fmt.Errorf("the token is of the issuer %q", claims.Issuer)
	case !claims.Verified || !strings.EqualFold(claims.Email, h.cfg.ServiceAccount):
		return fmt.Errorf("the token is of the account %q, verified: %t", claims.Email, claims.Verified)
	}
	return nil
}

// watch renews the watch. The history id of Gmail's answer is of no use: a sync starts from the cursor.
func (j *jobs) watch(ctx context.Context, w *queue.Work[WatchPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	expires, err := client.Watch(ctx, j.Topic)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Store.Progress().SetWatch(ctx, tx, account.ID, expires)
	})
}
