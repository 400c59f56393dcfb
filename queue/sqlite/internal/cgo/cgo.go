// Package cgo fails to build without cgo, with a line that says what to do. Package sqlite imports it first, so that
// this is the only line: SQLite is C, and without a C compiler the library for it is an empty shell.
package cgo
