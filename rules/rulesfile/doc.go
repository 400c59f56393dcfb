// Package rulesfile is the YAML file of rules.
//
// [Parse] and [ParseFile] read a file into rules and check them: each [Problem] has its line, what is wrong and what
// to write instead. [Marshal] writes rules as a file, [Format] brings a file into its canonical form and keeps its
// comments, and [File.Revise] changes rules of a file by their names. [Schema] describes files to editors.
// [Differences] compares two lists of rules.
//
// # A whole file
//
//	labels: [Newsletters, Receipts]   # created where they do not exist, as are those that actions name
//	snippets:                         # texts for auto_reply and others that have a body: {snippet: got it}
//	  got it: 'Dear {{first_name|all}}, I have received it. {{own_name}}'
//	rules:
//	  - name: Newsletters
//	    description: Anything one can unsubscribe from, but not what the team sends.
//	    priority: 50                  # default 100
//	    condition:
//	      op: and
//	      children:
//	        - {type: header_present, header: List-Unsubscribe}
//	        - op: not
//	          children: [{type: sender_domain, value: team.example}]
//	    action: move
//	    parameters: {label: Newsletters}
//	  - name: Receipts
//	    condition: {type: subject_regex, value: '(?i)\b(receipt|invoice)\b'}
//	    action: apply_label
//	    parameters: {label: Receipts}
//	  - name: Old promotions
//	    enabled: true
//	    scope: domain                 # default global
//	    scope_ref: shop.example
//	    condition: {type: older_than, value: 30d}
//	    action: delete                # dangerous: waits for a person
//	    safe_mode: default            # dangerous_override would not wait
//	  - name: Night shift
//	    schedule: {from: 2026-01-01, times: ['22:00-06:00'], weekdays: [fri, sat], zone: Europe/Berlin}
//	    condition: {type: address, fields: [recipients], part: detail, values: [alerts, pager]}
//	    actions:
//	      - {action: mark_read}
//	      - {action: apply_label, parameters: {label: Receipts}}
//	    stop: false                   # the rules after it are tried, too
//	    authentication: required
//
// # Tests
//
// A rules file, or another file beside it, may have tests: each is a message and the expected result of the rules,
// which [File.Test] checks. An .eml file can replace the message:
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
// What other mail tells is in the message as well: sender_seen and sender_written_to, and i_wrote and they_wrote, the
// times at which the owner and another have last written in the thread.
//
// A test expects actions, the names of the rules that match under rules, or under without the names of rules that must
// not match.
//
// # Translations
//
// A [Translation] is what packages gmailfilter and sieve make of filters of other kinds: a file, and each
// [Untranslated] part with its reason.
package rulesfile
