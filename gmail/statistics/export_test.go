package statistics

// Queries are what is read of a day and of the tables, with arguments, for tests of their plans.
func Queries() map[string][]any {
	day := []any{"a", "2026-01-01", "2026-01-02"}
	all := map[string][]any{}
	for _, query := range []string{sqlSenders, sqlCategories, sqlActions, sqlAnswers, sqlUndone, sqlByHand} {
		all[query] = day
	}
	f := Filter{Accounts: []string{"a", "b"}, Dimension: Sender, Limit: 3}
	from, args := fromParts(f, []part{{"day", "2026-01-02", "2026-02-01"}, {"year", "2027-01-01", "2028-01-01"}})
	all[sumOf(f)+from+groupsOf(f)], all[sqlSumAll+from] = args, args
	all[sqlStored] = day[:2]
	for _, query := range daysQueries("sqlite") {
		all[query] = day[:1]
	}
	return all
}
