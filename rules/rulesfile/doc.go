// Package rulesfile is the YAML file of rules.
//
// [Parse] and [ParseFile] read a file into rules and check them: each [Problem] has its line, what is wrong and what to write
// instead. [Marshal] writes rules as a file, [Format] brings a file into its canonical form and keeps its comments, and
// [File.Revise] changes rules of a file by their names. [Schema] describes files to editors. [Differences] compares two lists of
// rules.
//
// # Tests
//
// A rules file, or another file beside it, may have tests: each is a message and the expected result of the rules, which
// [File.Test] checks. An .eml file can replace the message:
//
//	tests:
//	  - name: a newsletter leaves the inbox
//	    message:
//	      from: News <news@shop.example>
//	      headers: {List-Unsubscribe: <https://shop.example/leave>}
//	    actions: [{action: move, parameters: {label: Newsletters}}]
//	  - name: a letter stays
//	    eml: mails/letter.eml
//	    message: {labels: [INBOX], sender_seen: true}
//	    now: 2026-01-31T08:00:00Z
//	    actions: []
//
// # Translations
//
// A [Translation] is what packages gmailfilter and sieve make of filters of other kinds: a file, and each [Untranslated] part
// with its reason.
package rulesfile
