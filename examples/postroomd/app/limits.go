package app

// The maximum of entries of a listing. Each package has its own bound; other listings have the ledger's.
const (
	MaxListed     = 100
	MaxMailListed = 500
)
