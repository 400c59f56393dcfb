package agefile

func init() { workFactor = 10 } //nolint:gochecknoinits // a passphrase costs a millisecond in tests
