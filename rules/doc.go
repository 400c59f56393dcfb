// Package rules decides about mail by rules that a person wrote: the first rule whose condition matches the message
// determines the action.
//
// # The way of a message
//
// A [JobClassify] names a message. Its handler, which [Register] registers, asks the [Engine]. The engine holds the stored
// rules compiled as a [Set] and loads them again when the [Store] has changed; it disables a rule that cannot be evaluated,
// and the others decide. If no rule matches, the handler asks [Config].Fallback, for instance a language model. It records
// the decision, with label names replaced by ids, in the ledger, in the transaction that completes the job.
//
// A [Rule] comes from a YAML file ([Parse], then [Store.Import]) or from a host's own pages ([Store.Create],
// [Store.Patch]). Both are checked before they are stored, regular expressions included.
//
// # Conditions
//
// A [Condition] is a tree. A node has an op and children: "and" and "or" take one or more and stop early, left to right;
// "not" takes exactly one. A leaf has a type and the fields of that type:
//
//	type              fields           matches when
//	sender_email      value            the From address is value, or is in the domain of *@domain
//	sender_domain     value            the From address's domain is value
//	to, cc            value            any To or Cc address is value, or is in the domain of *@domain
//	subject_contains  value            the subject holds value
//	subject_regex     value            the regular expression value matches in the subject
//	body_contains     value            the body's text holds value
//	body_regex        value            the regular expression value matches in the body's text
//	header_present    header           there is such a header field, empty or not
//	header_match      header, pattern  the regular expression pattern matches in any such header field
//	label_present     value            the message has the label with the id value
//	has_attachment                     a file is attached; pictures that belong to the body do not count
//	larger_than       value            the raw message has more bytes than value: B, KB, MB or GB, as in 1MB
//	smaller_than      value            the raw message has fewer bytes than value
//	older_than        value            it was received longer ago than value: h, d, w or y, as in 7d
//	newer_than        value            it was received less long ago than value
//
// Addresses, domains and header names are compared without regard to ASCII case, whole: a display name never matches and
// a subdomain is a domain of its own. subject_contains and body_contains ignore case as Unicode has it. Regular
// expressions are Go's (RE2), match anywhere in the text and mind case unless they begin with (?i). The body's text is
// the plain part, or the words of the HTML part where there is no other. 1 KB is 1024 bytes, 1y is 365 days. What a
// message does not have, such as a sender, a subject or a known size, matches no leaf.
//
// Messages carry label ids. A file may write a label's name instead, which [File.ResolveLabels] turns into the id.
//
// # Rules
//
// Enabled rules are tried by priority, low first; rules of one priority by their place in the file, then by age. The
// scope narrows whose mail a rule sees (global, account, domain, sender, the last three with a scope_ref) and does not
// outrank the priority. The safe mode says how far a rule's action is trusted: default; always_safe; or
// dangerous_override, the only one that lets the rule do something dangerous without a person.
//
// # A whole file
//
//	labels: [Newsletters, Receipts]   # created where they do not exist
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
package rules
