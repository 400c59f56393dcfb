// Package gmail keeps Gmail mailboxes and a database in step: mail comes in as jobs, and actions go out as jobs.
package gmail
