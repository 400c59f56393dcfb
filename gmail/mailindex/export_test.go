package mailindex

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/queue"
)

const (
	BucketBits = bucketBits
	IndexBatch = indexBatch

	SQLReceivedWithin = sqlReceivedWithin
	SQLPostings       = sqlPostings
	SQLOpenPostings   = sqlOpenPostings
	SQLLabeled        = sqlLabeled
	SQLNewest         = sqlNewest
	SQLUnindexed      = sqlUnindexed
	SQLCountUnindexed = sqlCountUnindexed
	SQLTakeUnindexed  = sqlTakeUnindexed
	SQLClosePostings  = sqlClosePostings
)

func BucketOf(second int64) int64 { return bucketOf(second) }

// Document is a message as queries are compared with it.
func Document(labels []postroom.Label, m *postroom.Message, at time.Time) *gmailquery.Document {
	known := newSearchLabels(labels)
	return known.document(m, at)
}

// Windows sets how many messages a search looks at.
func (x *Index) Windows(first, last, passed int) { x.windows = windows{first, last, passed} }

func (x *Index) IndexSome(ctx context.Context, tx queue.Tx, accountID string) (int, error) {
	return x.indexSome(ctx, tx, accountID)
}
