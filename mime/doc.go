// Package mime reads and builds mail.
//
// # Reading
//
// [Parse] turns a raw message into a [Message]: its header fields in order and decoded, the addresses, dates and
// ids they name, the text and the HTML that a mail client would show, the tree of its parts ([Part]) and the
// attachments among them. [TextFromHTML] turns HTML into plain text.
//
// A splitter cuts the bytes into header sections and bodies in one pass, comparing each line with
// all open boundaries at once; a part's header is unfolded and decoded, its body freed from its transfer encoding; then
// the message's own fields and texts are taken from the tree.
//
// Guarantees:
//   - No message is refused for being malformed. Real mail breaks every rule; where its meaning is in doubt,
//     [Message.Defects] says so. Each tolerance is marked QUIRK in the source and has a sample in testdata.
//   - Time and memory grow linearly with the size of the message, however hostile it is, and [Limits] bound both. Only
//     a message beyond the limits is refused, with a [LimitError].
//   - All strings are valid UTF-8, and what comes from a header is one line: no CR, LF or NUL.
//   - Encoded-words are decoded after a field has been taken apart, so that none becomes an address or a parameter.
//
// # Building
//
// [Outgoing.Build] writes a message: text, HTML or both, attachments, replies with their threading fields. Values that
// could inject a header (CR, LF, NUL) and invalid addresses are a [FieldError], and are never cleaned. Equal input
// gives equal bytes. [RawURL] encodes them for the Gmail API.
//
// What is built reads back as it was: [Parse] of a built message gives the same addresses, subject, ids, texts and
// files.
//
// # What this package does not do
//
// The package neither sends nor fetches mail, checks no signatures (DKIM, S/MIME, PGP), decrypts nothing, does not unpack TNEF
// (winmail.dat stays an attachment) or archives, and does not judge what it reads: hidden text is still text here.
//
// # Standards
//
// RFC 5322 (messages) with 6532 (UTF-8 in headers), RFC 2045 to 2049 (MIME, encoded-words), RFC 2183 (dispositions),
// RFC 2231 (parameters), RFC 2392 (Content-ID), RFC 2152 (UTF-7), RFC 8621 section 4.1.4 (which parts are the body).
package mime
