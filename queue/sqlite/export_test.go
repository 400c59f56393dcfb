package sqlite

// ClaimStatements are those that look for jobs to claim.
var ClaimStatements = map[string]string{
	"of one type": claimOfType, "heads": selectHeads, "heads with limits": selectLimitedHeads,
	"more of a type": selectReady, "more of a type with limits": selectLimitedReady,
}

// CheckVersion is for the tests.
var CheckVersion = checkVersion
