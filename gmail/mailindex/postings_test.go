package mailindex

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Rows have what was added to them, in whatever order.
func TestPostingsKeepWhatIsAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[uint32][]uint32{}
		var row []byte
		var m merger
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			var more []posting
			for range rapid.IntRange(0, 20).Draw(t, "postings") {
				key := rapid.SampledFrom([]uint32{0, 1, 7, 255, 256, 1<<23 - 1}).Draw(t, "key")
				offset := rapid.Uint32Range(0, 1<<bucketBits-1).Draw(t, "offset")
				if rapid.Bool().Draw(t, "one of few") {
					offset %= 5
				}
				more = append(more, posting{key, offset})
				want[key] = append(want[key], offset)
			}
			slices.SortFunc(more, comparePostings)
			var err error
			row, err = m.merge(row, slices.Compact(more))
			require.NoError(t, err)
		}
		for _, key := range []uint32{0, 1, 2, 7, 255, 256, 1<<23 - 1} {
			slices.Sort(want[key])
			got, err := findPostings(nil, row, key)
			require.NoError(t, err)
			require.Equal(t, slices.Compact(want[key]), got)
		}
	})
}

func TestAMessageIsInTheSecondOfItsBucket(t *testing.T) {
	for _, second := range []int64{0, 1, -1, 1<<bucketBits - 1, 1 << bucketBits, -1 << bucketBits, 1772884800,
		firstInstant, lastInstant} {
		require.Equal(t, second, bucketOf(second)<<bucketBits|int64(offsetIn(second)))
	}
}

// Bytes that are no postings are an error, and cost no more than their length.
func FuzzPostings(f *testing.F) {
	var m merger
	row, err := m.merge(nil, []posting{{1, 2}, {1, 300}, {70000, 5}})
	require.NoError(f, err)
	f.Add(row)
	f.Add(row[:len(row)-1])
	f.Fuzz(func(t *testing.T, row []byte) {
		found, err := findPostings(nil, row, 70000)
		require.LessOrEqual(t, len(found), len(row))
		if err != nil {
			require.ErrorIs(t, err, errPostings)
		}
		var m merger
		if _, err := m.merge(row, []posting{{70000, 5}}); err != nil {
			require.ErrorIs(t, err, errPostings)
		}
	})
}
