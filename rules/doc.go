// Package rules decides about mail by rules that a person wrote: the first rule whose condition matches the message
// determines the action.
//
// # Data flow
//
// A [JobClassify] names a message. Its handler, which [Register] registers, asks the [Engine]. The engine holds the
// stored rules compiled as a [Set] and loads them again when the [Store] has changed. It disables a rule that cannot
// be evaluated, and the others decide. If no rule matches, the handler asks [Config].Fallback, for instance a
// language model. It records the decision, with label names replaced by ids, in the ledger, in the transaction that
// completes the job. If rules alone decide, a [Classifier] does so in the transaction that stores the message,
// without that job.
//
// A [Rule] comes from a YAML file (package rulesfile) or from a host's own pages. Package rulestore checks it,
// regular expressions included, and keeps it with its versions. Package backtest tries rules on existing mail and
// changes nothing, and [Apply] applies the stored rules to it. Packages gmailfilter and sieve import filters of other
// kinds.
//
// # Conditions
//
// A [Condition] is a tree. A node has an op and children: "and" and "or" take one or more and stop early, left to
// right; "not" takes exactly one. A predicate has a type and the fields of that type:
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
//	has_attachment                     a file is attached; pictures of the body, signatures, reports and nameless calendars do not count
//	larger_than       value            the raw message has more bytes than value: B, KB, MB or GB, as in 1MB
//	smaller_than      value            the raw message has fewer bytes than value
//	older_than        value            it was received longer ago than value: h, d, w or y, as in 7d
//	newer_than        value            it was received less long ago than value
//
// Predicates that match texts also take match: is (the default where nothing else is said), contains, wildcard or
// regex; and case_sensitive, but for list_id and attachment_type.
//
//	address           fields, value    a part of an address in one of the fields is value
//	subject           value            the subject is value
//	body              value            the body's text holds value; match may also be wildcard or regex
//	header            header, value    a header field is value; index takes one of several, from 1, or from -1 for the last
//	list_id           value            the mailing list's id (RFC 2919) is value
//	attachment_name   value            the name of an attached file is value; wildcard is the default, as in *.pdf
//	attachment_type   value            the media type of an attached part is value; wildcard is the default, as in image/*
//
// The fields of address are from, reply_to, sender, to, cc, bcc, and recipients for the last three; resent_from,
// resent_sender, resent_to, resent_cc, resent_bcc; and envelope_from and envelope_to, which the receiving server
// recorded as the topmost Return-Path and Delivered-To. Its part is address (the default), local (before the @), user
// and detail (before and after the first + in it), domain, site (the registered domain, by the public suffix list),
// or name (the display name, which anyone can choose). Its index selects one of several fields of a name, as that of
// header does.
//
// Predicates that compare numbers and dates take compare: gt, ge, lt, le, eq or ne (RFC 5231). date, received and now
// take either compare or match.
//
//	address_count     fields, compare, value  the number of addresses in the fields
//	address_order     fields, compare, value  the text of a part of an address, by the order of characters
//	address_digits    fields, compare, value  the digits that a part of an address begins with, as header_digits
//	recipient_count   compare, value          the number of addresses in To, Cc and Bcc
//	header_count      header, compare, value  the number of header fields of the name
//	header_number     header, compare, value  the number that a header field begins with
//	header_digits     header, compare, value  the digits that a header field begins with; none is more than any number (RFC 4790)
//	header_order      header, compare, value  the text of a header field, by the order of characters
//	date              part, value             a part of the date in header, which is Date unless it is named (RFC 5260)
//	date_count        compare, value          the number of header fields with a date, of the name in header or Date
//	received          part, value             a part of the time at which the provider received the message
//	now               part, value             a part of the present time
//	time_of_day       value                   it was received at this time of a day, as in 22:00-06:00
//	weekday           value                   it was received on this day: mon, tue, wed, thu, fri, sat or sun
//
// The part of a date is year, month, day, date (2026-01-31), julian, hour, minute, second, time (23:59:59), iso8601,
// std11, zone or weekday (0 for Sunday). All of these take a zone: a name, an offset, or for date "original"; UTC is
// the default.
//
// Facts about the message and its sender:
//
//	is_reply                           it answers another message
//	calendar                           it carries an invitation or an answer to one
//	bounce                             it reports that another message was not delivered (RFC 3464)
//	automatic         value or none    no person wrote it: auto_reply, auto_generated, bulk and others (RFC 3834)
//	unsubscribe       value or none    one can leave its list: one_click, web, mail
//	authenticated                      the server that received it verified the domain of its sender (RFC 8601, 7489)
//	authentication    part, value      that server's result of spf, dkim, dmarc or arc is value: pass, fail … or missing
//	sender_seen                        the account has had mail from the sender before
//	sender_written_to                  the owner had written to the sender before it came
//	sender_spoofed                     the display name holds an address of another site
//	sender_confusable value or none    the sender's site looks like value and is another (UTS 39); without value: scripts are mixed
//	hidden_text       value or none    the body hides at least value characters from its reader; 1 without value
//	parts_disagree                     plain text and HTML are different messages
//	incomplete                         a part was not read, since the message is too large or too deep
//	i_answered                         the owner has written in its thread after it
//	they_answered                      another has written in its thread after the owner last did
//	thread_quiet      value            the last message of its thread is longer ago than value: h, d, w or y, as in 7d
//	since_i_wrote     value            the owner last wrote in its thread longer ago than value
//	topic             value            the category that was found out for it is value, of the owner's categories
//	priority          value            the importance that was found out for it is value, of the owner's levels
//	has_action_items                   it asks its reader to do something, as was found out
//	has_event                          it names an appointment, as was found out
//	category          value            Gmail's tab is value: primary, social, promotions, updates or forums
//	starred                            it has Gmail's star
//	important                          Gmail has marked it so
//	unread                             it has not been read
//
// What mail means is found out after it has come, by package llm/enrich. A rule with topic, priority, has_action_items
// or has_event does not match before, also where that stands in a "not"; when it is known, the rules are asked again,
// and what such rules decide is recorded ([ApplyConfig].Meant). A person is asked before one does something dangerous,
// whatever its safe mode.
//
// Instead of value, a predicate may have values with a list, one of which must match; in a file also values_from with
// the name of a file that has one value on each line. Instead of header beside other fields, it may have fields with
// several names.
//
// Addresses, domains and header names are compared whole, without regard to ASCII case: a display name never matches,
// and a subdomain is a different domain. International domains may be written in Unicode or in ASCII, in rules and in
// messages: they are compared in ASCII (RFC 5890), which contains, wildcard and regex also see. subject_contains and
// body_contains ignore case according to Unicode. Regular expressions are Go's (RE2), match anywhere in the text and
// are case-sensitive unless they begin with (?i). The body's text is what a person sees of the message, as
// [htmltext.ReadBody] reads it: that of the HTML part, without text that styles hide, or the plain part if there is
// no other. For body_contains the end of a line equals a space. 1 KB is 1024 bytes, 1y is 365 days. If a message
// lacks something, such as a sender, a subject or a known size, no predicate about it matches.
//
// Messages carry label ids. A file may write a label's name instead, which rulesfile.File.ResolveLabels turns into
// the id.
//
// # The index
//
// A [Set] does not try every rule with every message. An index finds the few rules that may match by what they look
// for, such as an address, a domain, or a word of the subject; those are then tried exactly, in their order, and
// equal predicates are tested once. So the set finds the same as trying each rule, at a cost that grows with the
// message and hardly with the number of rules. A rule with nothing to look for, such as a negation, is always tried.
//
// [Engine.Explain] reports the result of each rule: which predicate failed and on which value, whose mail the rule is
// for, when it is off, and which rule had decided before it.
//
// # Rules
//
// Enabled rules are tried by priority, low first; rules of one priority by their place in the file, then by age. The
// scope restricts whose mail a rule sees (global, account, domain, sender, the last three with a scope_ref) and does
// not outrank the priority. The schedule says when a rule applies: from and until as dates, times, weekdays, zone. A
// period across midnight belongs to the day on which it begins. Until label_only_until, a rule only gives its labels;
// see [Schedule].
//
// The first rule that matches decides, unless it has stop: false, which lets the rules after it be tried as well;
// "matching: all" at the top of a file makes that the default of its rules. A rule has one action, or several under
// actions. Each becomes a decision; one that an earlier rule has made is omitted. The actions of a message are
// carried out one at a time, in no particular order, but a deletion for good is the last; see safety.Ledger.Start.
//
// The safe mode says how far a rule's action is trusted: default; always_safe; or dangerous_override, the only one
// that lets the rule do something dangerous without a person. Anyone can write anything as the sender of a message. A
// rule with dangerous_override that matches by sender, in its scope or in a predicate, therefore matches only mail
// whose sender is authenticated; "authentication: required" requires that in any rule, and "not_required" in none.
package rules
