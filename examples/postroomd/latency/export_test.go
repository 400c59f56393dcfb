package latency

// SQLWaits is for the tests of its plan.
const SQLWaits = sqlWaits
