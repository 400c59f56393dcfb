// Package attempts holds how often jobs of the mail packages are tried.
package attempts

// Unattended is the MaxAttempts of a job that nobody enqueues again when it has failed. With the queue's default backoff
// the job outlasts eight hours without a provider, a model or a network.
const Unattended = 100
