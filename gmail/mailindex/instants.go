package mailindex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// instants are the seconds since 1970 in which messages were received that a query may find, from the latest on.
type instants interface {
	// next returns the latest one that is not after upto, or noInstant. From call to call upto does not grow.
	next(ctx context.Context, upto int64) (int64, error)
}

const (
	noInstant    int64 = math.MinInt64
	lastInstant        = maildb.LastInstant
	firstInstant       = maildb.FirstInstant
)

// all are the instants that each of several has.
type all []instants

func (a all) next(ctx context.Context, upto int64) (int64, error) {
	for agreed := 0; agreed < len(a); {
		for _, one := range a {
			at, err := one.next(ctx, upto)
			switch {
			case err != nil || at == noInstant:
				return noInstant, err
			case at < upto:
				upto, agreed = at, 1
			default:
				agreed++
			}
			if agreed == len(a) {
				break
			}
		}
	}
	return upto, nil
}

// anyOf are the instants that one of several has.
type anyOf []instants

func (a anyOf) next(ctx context.Context, upto int64) (int64, error) {
	latest := noInstant
	for _, one := range a {
		at, err := one.next(ctx, upto)
		if err != nil {
			return noInstant, err
		}
		latest = max(latest, at)
	}
	return latest, nil
}

// known are instants that are in memory, the latest first.
type known []int64

func (k *known) next(_ context.Context, upto int64) (int64, error) {
	first, _ := slices.BinarySearchFunc(*k, upto, func(at, upto int64) int {
		if at > upto {
			return -1
		}
		return 1
	})
	*k = (*k)[first:]
	if len(*k) == 0 {
		return noInstant, nil
	}
	return (*k)[0], nil
}

// A reader of instants reads some from the database: those that are not after upto and not before since, the latest
// first. There are none before noInstant.
type instantsReader interface {
	read(ctx context.Context, upto int64) (found known, since int64, err error)
}

// stored are instants in the database, read as they are needed.
type stored struct {
	instantsReader

	found known
	since int64 // earlier seconds were not read
}

func newStored(r instantsReader) *stored { return &stored{r, nil, math.MaxInt64} }

func (s *stored) next(ctx context.Context, upto int64) (int64, error) {
	for {
		at, err := s.found.next(ctx, upto)
		if err != nil || at != noInstant || s.since == noInstant {
			return at, err
		}
		if s.found, s.since, err = s.read(ctx, min(upto, s.since-1)); err != nil {
			return noInstant, err
		}
	}
}

// A termReader reads the instants of a term from the index.
type termReader struct {
	index     *Index
	accountID string
	term      term
	buckets   int64 // how many the last read had
}

// A search reads more with each read. From this read on it reads all that is left.
const allBuckets = 512

func (r *termReader) read(ctx context.Context, upto int64) (found known, since int64, err error) {
	r.buckets = max(8*r.buckets, 8)
	last := bucketOf(upto)
	before := last - r.buckets
	since = (before + 1) << bucketBits
	if r.buckets >= allBuckets {
		before, since = bucketOf(firstInstant)-1, noInstant
	}
	var rows []postingsRow
	err = dbquery.Select(ctx, r.index.db.Reader(), &rows, sqlPostings, r.accountID, r.term.slot(), last, before)
	if err != nil {
		return nil, 0, fmt.Errorf("mailindex: index of searches: %w", err)
	}
	var offsets []uint32
	for _, row := range rows {
		if offsets, err = findPostings(offsets[:0], row.Postings, r.term.key()); err != nil {
			return nil, 0, err
		}
		for _, offset := range offsets {
			found = append(found, row.Bucket<<bucketBits|int64(offset))
		}
	}
	return latestFirst(found), since, nil
}

func latestFirst(found []int64) known {
	slices.Sort(found)
	found = slices.Compact(found)
	slices.Reverse(found)
	return found
}

// A labelReader reads the instants of the messages with a label.
type labelReader struct {
	index     *Index
	accountID string
	labelID   string
	rows      int // how many the last read asked for
}

func (r *labelReader) read(ctx context.Context, upto int64) (found known, since int64, err error) {
	r.rows = min(max(4*r.rows, searchBatch), maxSearched)
	var rows []dbtime.Time
	before := dbtime.Of(time.Unix(min(upto, lastInstant-1)+1, 0))
	if err := dbquery.Select(ctx, r.index.db.Reader(), &rows, sqlLabeled, r.accountID, r.labelID, before,
		r.rows); err != nil {
		return nil, 0, fmt.Errorf("mailindex: messages of label %s: %w", r.labelID, err)
	}
	for _, at := range rows {
		found = append(found, at.Unix())
	}
	found = slices.Compact(found)
	if len(rows) < r.rows {
		return found, noInstant, nil
	}
	return found, found[len(found)-1], nil
}
