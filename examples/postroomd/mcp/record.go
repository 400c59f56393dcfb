package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

const (
	insertCall = `
INSERT INTO assistant_calls (id, caller, tool, arguments_sha256, result_bytes, proposed, untrusted, error, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

	selectDay = `
SELECT COALESCE(SUM(proposed), 0) AS proposed, COALESCE(MAX(untrusted), 0) AS untrusted
FROM assistant_calls
WHERE caller = $1 AND created_at > $2`
)

// An entry is what is recorded of a call.
type entry struct {
	call
	tool  string
	size  int // of the answer, in bytes; 0 where it is recorded before
	fault error
}

func (s *server) record(ctx context.Context, e entry) error {
	// A caller that has hung up is on record too.
	return s.app.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) error {
		return s.recordTx(ctx, tx, e)
	})
}

func (s *server) recordTx(ctx context.Context, tx queue.Tx, e entry) error {
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	hash := sha256.Sum256(e.arguments)
	var fault *string
	if e.fault != nil {
		text := oneLine(e.fault.Error(), 500)
		fault = &text
	}
	untrusted := 0
	if e.untrusted {
		untrusted = 1
	}
	_, err = dbquery.Exec(ctx, tx, insertCall, id, s.caller.Name, e.tool, hex.EncodeToString(hash[:]), e.size,
		e.proposed, untrusted, fault, dbtime.Of(queue.Now(tx)))
	return err
}

// lastDay is what a caller has done within 24 hours.
type lastDay struct {
	Proposed  int `db:"proposed"`
	Untrusted int `db:"untrusted"` // 1: it has read mail of a sender who is not known or not verified
}

func (s *server) lastDay(ctx context.Context, q dbquery.Querier) (d lastDay, err error) {
	return d, dbquery.Get(ctx, q, &d, selectDay, s.caller.Name, dbtime.Of(time.Now().Add(-24*time.Hour)))
}
