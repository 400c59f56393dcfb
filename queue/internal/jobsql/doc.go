// Package jobsql holds what the drivers of the queue share: the rows of its tables, the statements that are the same on every
// engine, and the listings and figures that are built from them. A driver embeds a [Store] for the methods that need nothing
// of its engine.
package jobsql
