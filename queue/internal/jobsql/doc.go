// Package jobsql has the common parts of the queue's drivers: the rows of its tables, the statements that are the same
// on every engine, and the listings and statistics that use them. A driver embeds a [Store] for the methods that do not
// depend on its engine.
package jobsql
