package away

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// What a [Preview] looks at, and lists.
const (
	PreviewTime   = 14 * 24 * time.Hour
	PreviewListed = 50
	previewLooked = 5000
)

// A Preview is whom an absence would have answered in the last two weeks.
type Preview struct {
	Looked  int      // messages
	Senders int      // who would have been answered, each once
	Listed  []Sender // of these the latest, at most PreviewListed
	Cut     bool     // there was more mail than was looked at
}

// A Sender is one who would have been answered.
type Sender struct {
	Name, Email, Subject string
	At                   time.Time
}

// Preview returns whom the absence would have answered in the last two weeks, had it been on. It says nothing about
// rules, which may have answered as well or thrown mail away.
func (s *Service) Preview(ctx context.Context, a Absence) (p Preview, err error) {
	answered := make(map[string]bool)
	recent := mailstore.MessageRange{Since: s.cfg.Now().Add(-PreviewTime), NewestFirst: true, WithoutBodies: true,
		SkipLabels: []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}}
	for msg, err := range s.cfg.Store.AllMessages(ctx, a.AccountID, recent) {
		if err != nil {
			return p, err
		}
		if p.Looked == previewLooked {
			p.Cut = true
			break
		}
		p.Looked++
		sender := senderOf(msg)
		if answered[sender] {
			continue
		}
		why, err := s.whyNot(ctx, &a, msg, s.ownOf)
		if err != nil {
			return p, err
		}
		if why != "" {
			continue
		}
		answered[sender] = true
		if p.Senders++; len(p.Listed) < PreviewListed {
			p.Listed = append(p.Listed, Sender{Name: msg.From.Name, Email: msg.From.Email, Subject: msg.Subject,
				At: msg.ReceivedAt})
		}
	}
	return p, nil
}
