// Package maildb reads and writes the rows of the packages of gmail. Its errors say what a row is.
package maildb
