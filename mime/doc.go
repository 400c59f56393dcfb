// Package mime parses and builds mail.
//
// # Reading
//
// [Parse] turns a raw message into a [Message]: its decoded header fields in order, their addresses, dates and ids,
// the text and the HTML that a mail client would show, the tree of its parts ([Part]), and the attachments among
// them. Package htmltext, below this one, reads what a person sees of the texts.
//
// A splitter cuts the bytes into header sections and bodies in one pass, and compares each line with all open
// boundaries at once. Then the header of each part is unfolded and decoded, and its transfer encoding is removed.
// Finally the message's own fields and texts are taken from the tree.
//
// Guarantees:
//   - No message is refused. Real mail breaks every rule; if its meaning is in doubt, [Message.Defects] reports that.
//     Each tolerance is marked QUIRK in the source and has a sample in testdata.
//   - Time and memory grow linearly with the size of the message, however hostile it is, and [Limits] bound both:
//     parsing takes less than four bytes of memory for each byte, and up to 24 MiB for parts, fields and addresses of
//     the smallest size. Content beyond the limits is kept unread as an opaque part, or left out, with a defect.
//     Sender, recipients and subject are always read.
//   - All strings are valid UTF-8. Values from a header are one line: no CR, LF or NUL.
//   - Encoded-words are decoded after a field has been split, so that none becomes an address or a parameter.
//
// # What a message says about itself
//
// Methods read further facts into typed values. Each reads when it is called and caches nothing, so a program pays
// only for the methods that it calls. Methods that need only the header are methods of [Header], and work on a stored
// header as well:
//
//   - [Header.List]: the mailing list, and the ways to leave it, including one-click (RFC 2369, 2919, 8058).
//
//   - [Header.Automatic]: the signs that no person wrote the message (RFC 3834). Every program that replies
//     automatically must heed them.
//
//   - [Message.Receipt] and [Message.Feedback]: receipts (RFC 8098) and reports of abuse (RFC 5965).
//
// The packages below this one read more: bounce the recipients that mail did not reach, the reasons, and whether the
// failure is final (RFC 3464, 3463, and the plain-word notices of mail servers), htmltext what a person sees of HTML,
// reply the sender's new text without quotations, authres the findings of the receiving server about the sender (RFC
// 8601, 8617), lookalike names that are made to deceive, and calendar invitations (RFC 5545, 5546). Package charset
// finds the charset that a text is in.
//
// All facts but those of authres are the sender's claims. No method fails: malformed data is read as far as its
// meaning is clear, and left out otherwise. Time and memory are linear in the size of the message.
//
// # Building
//
// [Outgoing.Build] returns a message: text, HTML or both, files, invitations, replies with their threading fields,
// drafts, delivery reports and receipts. [Outgoing.WriteTo] writes it through a small buffer and opens files while it
// writes. Values that could inject a header (CR, LF, NUL) and invalid addresses are a [FieldError], and are never
// cleaned. Equal input gives equal bytes. [RawURL] encodes them for the Gmail API.
//
// A built message parses back to the same values: [Parse] gives the same addresses, subject, ids, texts and files. So
// does the email package of Python, up to version 3.11 with an additional blank where a long name is cut between two
// of its words.
//
// # What this package does not do
//
// The package does not send or fetch mail, check signatures (DKIM, S/MIME, PGP), decrypt, or unpack archives and TNEF
// (winmail.dat stays an attachment). It does not judge.
//
// # Standards
//
// RFC 5322 (messages) with 6532 (UTF-8 in headers), RFC 2045 to 2049 (MIME, encoded-words), RFC 2183 (dispositions),
// RFC 2231 (parameters), RFC 2392 (Content-ID), RFC 3676 (format=flowed), RFC 5891 (domains beyond ASCII), RFC 2152
// (UTF-7), RFC 8621 section 4.1.4 (the parts of the body). Facts: RFC 2369, 2919 and 8058 (lists), RFC 3834
// (automatic mail), RFC 6522, 3464, 3463 and 6533 (bounces), RFC 8098 (receipts), RFC 5965 (abuse), RFC 8601, 7489
// and 8617 (authentication).
package mime
