// Package mime reads and builds mail.
//
// # Reading
//
// [Parse] turns a raw message into a [Message]: its header fields in order and decoded, the addresses, dates and
// ids they name, the text and the HTML that a mail client would show, the tree of its parts ([Part]) and the
// attachments among them. [Message.Body] says what a person sees of it.
//
// A splitter cuts the bytes into header sections and bodies in one pass, comparing each line with
// all open boundaries at once; a part's header is unfolded and decoded, its body freed from its transfer encoding; then
// the message's own fields and texts are taken from the tree.
//
// Guarantees:
//   - No message is refused. Real mail breaks every rule; where its meaning is in doubt, [Message.Defects] says so. Each
//     tolerance is marked QUIRK in the source and has a sample in testdata.
//   - Time and memory grow linearly with the size of the message, however hostile it is, and [Limits] bound both: reading takes
//     less than four bytes of memory for each byte, and up to 24 MiB for parts, fields and addresses of the least size. What is
//     beyond them is kept unread, as an opaque part or left out, with a defect; sender, recipients and subject are always
//     read.
//   - All strings are valid UTF-8, and what comes from a header is one line: no CR, LF or NUL.
//   - Encoded-words are decoded after a field has been taken apart, so that none becomes an address or a parameter.
//
// # What a message says about itself
//
// Methods read further facts into typed values. Each reads when it is called and keeps nothing, so that a program pays for
// what it asks. Those of the header alone are methods of [Header], and serve a stored header as well:
//
//   - [Header.List]: the mailing list, and the ways to leave it, one click among them (RFC 2369, 2919, 8058).
//
//   - [Header.Automatic]: the signs that no person wrote the message (RFC 3834), on which every program that replies by
//     itself must rely.
//
//   - [Message.Bounce]: which recipients mail did not reach, why, and whether it ever will (RFC 3464, 3463, and the notices of
//     mail servers that write in plain words).
//
//   - [Message.Receipt] and [Message.Feedback]: receipts (RFC 8098) and reports of abuse (RFC 5965).
//
//   - [Message.Reply]: what the sender wrote anew, apart from quotations and signature.
//
//   - [Header.Authentication] and [Message.VerifiedFrom]: what the server that received the message found out about its sender
//     (RFC 8601), and not what the sender wrote in its place. [Header.ARC]: what servers on the way claim (RFC 8617).
//
// Package calendar, below this one, reads invitations (RFC 5545, 5546).
//
// All but Authentication and VerifiedFrom are the sender's claims. None fails: what is malformed is read as far
// as its meaning is clear, and left out where it is not. Time and memory are linear in the size of the message.
//
// # What a person sees
//
// [ReadHTML] is the one reader of HTML: rules, models and people that go by it see the same mail. [HTMLText] is what the page
// shows, and apart from that what it hides, where, and by what.
//
// A scanner cuts the source into tags and texts. A stack holds the open elements, with the ends that HTML leaves out, tables
// and formatting that is nested wrongly put right as the standard says (WHATWG HTML, section 13.2), so that a style hides what
// browsers hide and no more. Each element's style is computed when it is opened: from what browsers give it, its attributes, the
// page's style sheets, which are read before all else, and its style attribute. There is no tree: a text is written as soon as
// it is read, to the text that is seen or to the one that is hidden.
//
// The styles that count are those that can hide text: display, visibility, opacity, sizes of fonts, colors on backgrounds,
// positions, margins and indents, boxes that clip, transforms, filters and shadows. Selectors are matched by element, id, class, attribute, ancestor,
// parent and the element before; what a selector says beyond that, such as :last-child, can reveal text and does not hide it.
// Where it is not known whether a text is seen, as with white text on a picture, it is taken for seen.
//
// [ReadBody] reads both texts of a message, and says whether they agree.
//
// # Building
//
// [Outgoing.Build] writes a message: text, HTML or both, files, invitations, replies with their threading fields, drafts,
// delivery reports and receipts. [Outgoing.WriteTo] does so through a small buffer, with files that are opened while it
// writes. Values that could inject a header (CR, LF, NUL) and invalid addresses are a [FieldError], and are never
// cleaned. Equal input gives equal bytes. [RawURL] encodes them for the Gmail API.
//
// What is built reads back as it was: [Parse] of a built message gives the same addresses, subject, ids, texts and
// files, and so does the email package of Python, up to version 3.11 with a blank more where a long name is cut between two of its words.
//
// # What this package does not do
//
// The package neither sends nor fetches mail, checks no signatures (DKIM, S/MIME, PGP), decrypts nothing, does not unpack TNEF
// (winmail.dat stays an attachment) or archives, and does not judge what it reads: that a text is hidden is a fact, and many honest messages hide some. The reader
// of HTML loads nothing, runs no scripts, and does not look at pictures.
//
// # Standards
//
// RFC 5322 (messages) with 6532 (UTF-8 in headers), RFC 2045 to 2049 (MIME, encoded-words), RFC 2183 (dispositions),
// RFC 2231 (parameters), RFC 2392 (Content-ID), RFC 3676 (format=flowed), RFC 5891 (domains beyond ASCII), RFC 2152 (UTF-7), RFC 8621 section 4.1.4 (which parts are the body).
// Facts: RFC 2369, 2919 and 8058 (lists), RFC 3834 (automatic mail), RFC 6522, 3464, 3463 and 6533 (bounces), RFC 8098
// (receipts), RFC 5965 (abuse), RFC 8601, 7489 and 8617 (authentication). What a person sees: WHATWG HTML, and CSS as today's
// browsers have it.
package mime
