package drafting

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A count is what has become of a draft, as the metric postroom.drafts counts it.
type count string

const (
	countMade       count = "made"
	countReworked   count = "reworked"
	countSent       count = "sent"        // as it was written
	countSentEdited count = "sent_edited" // with a person's changes
	countUnused     count = "unused"      // answered without it
	countDiscarded  count = "discarded"
)

// metrics count what becomes of drafts.
type metrics struct {
	drafts metric.Int64Counter
	answer metric.Float64Histogram
}

func newMetrics(p metric.MeterProvider) (m metrics, err error) {
	if p == nil {
		p = otel.GetMeterProvider()
	}
	meter := p.Meter("github.com/postroom-go/postroom/gmail/drafting")
	drafts, err := meter.Int64Counter("postroom.drafts", metric.WithUnit("{draft}"),
		metric.WithDescription("Drafts of answers that were made, reworked, sent as they were or edited, left unused or discarded"))
	answer, fault := meter.Float64Histogram("postroom.draft.answer_time", metric.WithUnit("s"),
		metric.WithDescription("Time from the arrival of a message to the sending of its draft"),
		metric.WithExplicitBucketBoundaries(60, 300, 900, 3600, 4*3600, 24*3600, 3*24*3600, 7*24*3600))
	return metrics{drafts, answer}, errors.Join(err, fault)
}

// count counts what has become of the draft of a reply.
func (s *Service) count(ctx context.Context, c count, r *replies.Reply) {
	if c == "" {
		return
	}
	s.metrics.drafts.Add(ctx, 1, metric.WithAttributes(attribute.String("postroom.draft.outcome", string(c))))
	if c != countSent && c != countSentEdited {
		return
	}
	messages, err := s.messages(ctx, threadKey{r.AccountID, r.ThreadID})
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "the time of an answer is not counted", "error", err)
		return
	}
	for _, m := range messages {
		if m.ProviderID == r.MessageID && !m.HasLabel(postroom.LabelSent) { // a reminder answers nobody
			s.metrics.answer.Record(ctx, time.Since(m.ReceivedAt).Seconds())
		}
	}
}
