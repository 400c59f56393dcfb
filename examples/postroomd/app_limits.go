package main

// The maximum of entries of a listing. Each package has its own bound; other listings have the ledger's.
const (
	mostListed = 100
	mostMail   = 500
)
