// Package rulestore keeps rules in the database of the queue, with all their versions. Its [Store] is the store of an
// engine of package rules.
//
// A [rules.Rule] comes from a YAML file ([Store.ImportFile]) or from a host's own pages ([Store.Create],
// [Store.Patch]). It is checked before it is stored, regular expressions included. An account has rules of its own;
// rules that belong to no account apply to all. The names of the rules of an account are unique.
//
// # Changes
//
// All writing methods take the caller's transaction. Changes happen one after the other: each begins by increasing
// the revision of the rules, and on PostgreSQL the lock of that row holds the others back until the transaction ends.
// [Store.Lock] takes the lock without a change. [Store.Revision] tells an engine whether the rules have changed.
//
// The program disables a rule that cannot be evaluated ([Store.DisableBroken]), and rules that name a deleted label
// ([Store.DisableUsingLabel]), with the reason. An import leaves such a rule disabled until its definition changes.
//
// # Versions
//
// Each change makes a [Version], which records who changed the rules, when and from where ([Store.As]), and keeps the
// text of the file if they came from one. [Store.Versions] lists them, [Store.Version] returns one with its rules,
// and [Store.Restore] restores one, which makes a version as well. [Store.RuleAt] returns a rule as it was when a
// decision was made. [Store.PruneVersions] deletes old versions, but no rule that a decision refers to.
//
// A [Patch] with a Revision is refused with [ErrChanged] if the rule has changed since it was read.
package rulestore
