package sqlite

import "strings"

// maxRows is how many rows one statement takes at most: enough to share its cost, few enough to bind.
const maxRows = 32

// valueStatements are a statement for each number of rows of values from 1 to [maxRows]. A row has so many parameters,
// of which it is told the first.
func valueStatements(head, tail string, first int, row func(first int) string, parameters int) (texts [maxRows + 1]string) {
	var values strings.Builder
	for n := 1; n <= maxRows; n++ {
		if n > 1 {
			values.WriteString(", ")
		}
		values.WriteString(row(first + (n-1)*parameters))
		texts[n] = head + values.String() + tail
	}
	return texts
}
