package sqlite

// ClaimStatements are those that look for jobs to claim.
var ClaimStatements = map[string]string{
	"of one type": selectClaimable, "of several types": readReady, "of limit keys": readWaiting, "of fronts": readFronts,
}

// CheckVersion is for the tests.
var CheckVersion = checkVersion
