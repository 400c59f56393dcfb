package bulk

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// PlanAsking says about which messages [Ask] would ask the model again, and writes nothing. Of the request it reads the
// account and the search. Without a model it is a [usage.Error].
func PlanAsking(ctx context.Context, h *app.App, r Request) (*Preview, error) {
	if err := h.HasModel(); err != nil {
		return nil, err
	}
	if err := r.checkQuery(); err != nil {
		return nil, err
	}
	p := &Preview{LeftAlone: []Left{}}
	return p, p.find(ctx, h, r, func(m *postroom.Message) (string, error) {
		switch {
		case m.HasLabel(postroom.LabelDraft):
			return "it is a draft", nil
		case m.HasLabel(postroom.LabelSent):
			return "you have sent it", nil
		}
		waits, err := h.WaitsAbout(ctx, m)
		if waits {
			return "something waits for you about it: answer that first", nil
		}
		return "", err
	})
}

// Asked counts the messages that the model is asked about again.
type Asked struct {
	Asked   int `json:"asked"`
	Already int `json:"already"` // which are being asked about
}

// Ask has the model decide again about the messages that a preview has shown with this digest. What it decides goes
// through the gate, as each of its decisions.
func Ask(ctx context.Context, h *app.App, r Request, digest string) (done Asked, err error) {
	p, err := PlanAsking(ctx, h, r)
	if err != nil {
		return done, err
	}
	if p.Digest != digest {
		return done, ErrChanged
	}
	for some := range slices.Chunk(p.messages, inTransaction) {
		n, err := h.DecideAllAgain(ctx, some, r.By)
		if err != nil {
			return done, fmt.Errorf("the model is asked about %d of %d messages: %w", done.Asked, p.Count, err)
		}
		done.Asked += n
		done.Already += len(some) - n
	}
	return done, nil
}
