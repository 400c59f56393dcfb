// Package chaos has the tests of everything together: mail that comes in, is sorted, answered and put back, while processes
// are killed, calls to Gmail fail, notifications get lost, and people have their hands in the mailbox. It exports nothing.
//
// The Gmail runs in the process of the test. The workers are processes of their own, on an SQLite file or on PostgreSQL, and are
// killed with SIGKILL. At the end nothing fails and nobody kills: what is left to do is done, and then everything must be as if
// nothing had happened.
//
// The environment variable POSTROOM_TEST_CHAOS is the number of messages; without it the tests are small, and those that take several
// seeds take three. POSTROOM_TEST_SEEDS takes more. The seed is in the log of a test and in its name, and POSTROOM_TEST_SEED repeats it,
// with the same POSTROOM_TEST_CHAOS, as far as the times at which processes are killed allow.
package chaos
