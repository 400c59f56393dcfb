// Package chaos has end-to-end tests: mail is received, sorted, answered and restored, while processes are killed,
// calls to Gmail fail, notifications are lost, and people change the mailbox. It exports nothing.
//
// The fake Gmail runs in the process of the test. The workers are separate processes, on an SQLite file or on
// PostgreSQL, and are killed with SIGKILL. At the end there are no more failures: the remaining work is done, and
// then everything must be as if nothing had happened.
//
// The environment variable POSTROOM_TEST_CHAOS is the number of messages; without it the tests are small, and tests
// with several seeds use three. POSTROOM_TEST_SEEDS is another number of seeds. The log and the name of a test have
// the seed. POSTROOM_TEST_SEED with the same POSTROOM_TEST_CHAOS repeats it, as far as the times at which processes
// are killed permit.
package chaos
