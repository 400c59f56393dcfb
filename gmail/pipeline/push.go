package pipeline

import (
	"github.com/postroom-go/postroom/gmail"
)

// NewReceiver makes what takes Gmail's notifications, pushed or pulled; see package gmail/pubsub.
func (p *Pipeline) NewReceiver() (*gmail.Receiver, error) {
	return gmail.NewReceiver(gmail.ReceiverConfig{Queue: p.Queue, Store: p.Mail, Logger: p.cfg.Logger})
}

// NewPushHandler makes the handler of the posts of a Pub/Sub push subscription, which verifies their signatures. Leave
// out Receiver; the default Logger is the pipeline's.
func (p *Pipeline) NewPushHandler(cfg gmail.PushConfig) (*gmail.PushHandler, error) {
	receiver, err := p.NewReceiver()
	if err != nil {
		return nil, err
	}
	cfg.Receiver = receiver
	if cfg.Logger == nil {
		cfg.Logger = p.cfg.Logger
	}
	return gmail.NewPushHandler(cfg)
}
