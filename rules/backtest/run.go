package backtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
)

// Run tries rules on messages and counts what they would decide. It writes nothing and holds a few hundred messages
// at a time, however many there are; messages are evaluated concurrently. An error from the sequence, or of ctx, ends
// it. A nil message counts as one that could not be read.
func Run(ctx context.Context, cfg Config, messages iter.Seq2[*postroom.Message, error]) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := fields.Required("backtest: Run: messages", messages, "a sequence of messages"); err != nil {
		return nil, err
	}
	began := time.Now()
	ctx, stop := context.WithCancel(ctx)
	chunks := make(chan chunk, 1)
	var reader sync.WaitGroup
	reader.Go(func() { readChunks(ctx, messages, chunks) })
	defer func() {
		stop()
		reader.Wait()
	}()
	count := newCounter(cfg, began)
	for chunk := range chunks {
		if err := errors.Join(chunk.err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("backtest: message %d: %w", count.messages+1, err)
		}
		if err := count.add(ctx, chunk.messages); err != nil {
			return nil, fmt.Errorf("backtest: %w", err)
		}
		if cfg.Progress != nil {
			cfg.Progress(count.messages)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	return count.result(time.Since(began)), nil
}

// A chunk is messages that are evaluated together, or why there are no more.
type chunk struct {
	messages []*postroom.Message
	err      error
}

// The bounds of a chunk, in messages and in bytes of their texts.
const (
	chunkMessages = 256
	chunkBytes    = 8 << 20
)

func readChunks(ctx context.Context, messages iter.Seq2[*postroom.Message, error], to chan<- chunk) {
	defer close(to)
	var list []*postroom.Message
	size := 0
	send := func(c chunk) bool {
		list, size = nil, 0
		select {
		case to <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for msg, err := range messages {
		if err != nil {
			if len(list) == 0 || send(chunk{messages: list}) {
				send(chunk{err: err})
			}
			return
		}
		list = append(list, msg)
		if msg != nil {
			size += len(msg.BodyPlain) + len(msg.BodyHTML)
		}
		if (len(list) == chunkMessages || size > chunkBytes) && !send(chunk{messages: list}) {
			return
		}
	}
	if len(list) > 0 {
		send(chunk{messages: list})
	}
}
