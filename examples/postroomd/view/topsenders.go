package view

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// A TopSender is an address with how much it has sent, and how much of that is read.
type TopSender struct {
	Sender   string
	Messages int
	Read     int
}

// Percent is the part that is read, in whole percent: 100 only if all is.
func (s TopSender) Percent() int { return s.Read * 100 / max(s.Messages, 1) }

// maxSenders bounds the listed senders.
const maxSenders = 8

// newTopSenders lists who has sent the most to the accounts since an instant, most first.
func newTopSenders(ctx context.Context, h *app.App, ids []string, since time.Time) ([]TopSender, error) {
	sums := map[string]TopSender{}
	for _, id := range ids {
		// Who is just below the first of each mailbox may be among the first of all.
		list, err := h.Mail.TopSenders(ctx, id, since, maxSenders*max(1, len(ids)))
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			s := sums[v.Sender]
			sums[v.Sender] = TopSender{v.Sender, s.Messages + v.Messages, s.Read + v.Messages - v.Unread}
		}
	}
	var all []TopSender
	for _, s := range sums {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b TopSender) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Sender, b.Sender))
	})
	return all[:min(len(all), maxSenders)], nil
}
