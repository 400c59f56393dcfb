package enrich

// SQLPrune is the statement of [Prune].
const SQLPrune = sqlPrune
