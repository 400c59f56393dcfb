package contender

// What handlers write.
const (
	RowTable      = "CREATE TABLE bench_rows (job BIGINT NOT NULL, text TEXT NOT NULL)"
	RowInsert     = "INSERT INTO bench_rows (job, text) VALUES ($1, $2)"
	RowCount      = "SELECT COUNT(*) FROM bench_rows"
	RowText       = "written by a handler"
	RowInsertText = "INSERT INTO bench_rows (job, text) VALUES ($1, '" + RowText + "')" // for one parameter
)
