// Package charset finds the charset that a text of a mail is in, whatever it declares, and converts it to UTF-8.
//
// [Finder.Find] takes a text and the name that it declares. Most names are right, and are looked up ([Lookup]). A name
// that is missing, unknown, or impossible for the bytes is replaced by what the message names elsewhere, or by the
// likeliest charset of the text. The result depends only on the bytes of the message. A [Problem] reports that the
// declaration was not followed.
//
// [Charset.Text] converts a text, and never fails: it replaces invalid bytes and leaves out none.
package charset
