// Package safehtml makes the HTML of a mail safe to show to a person.
//
// [Clean] writes a mail anew, from lists of what is allowed: the structure of text and tables, formats, links, and a
// few properties of style whose values are checked. Scripts, style sheets, forms, frames, SVG and MathML are left
// out. Nothing that is left makes a browser ask anybody for anything until a person follows a link:
//
//   - A picture is shown if it comes with the mail, see [Options], and is a small PNG, GIF or JPEG. It becomes
//     a data: address. In place of every other one stands its text.
//   - A link leads to http:, https: or mailto:. It opens a window of its own, which learns nothing of where it was
//     opened. Its title is the host or the address that it leads to. Where the text of a link names another host, the
//     true one is written at its end, in a bdi of the class host, which nothing else has: give it a style that no mail
//     can imitate. Within a link nothing is styled, which would hide some of its text.
//
// The result is a fragment: each element that is opened in it is closed in it, so it can stand within a page. It is
// still the text of a stranger, who may imitate what is around it. Show it in a document of its own, in a frame with
// the attribute [Sandbox], whose content security policy is [Policy]. Then a fault of this package alone lets nothing
// run.
//
// # How it works
//
// The tokenizer of golang.org/x/net/html cuts the source into tags and texts, and each of them is judged and written
// at once. There is no tree: for some sources, such as many formats that nobody closes, a tree is thousands of times
// larger than they are, in browsers as well. A stack holds the open elements. Omitted end tags, tables and misnested
// formats are resolved much as browsers do, so that the result is well nested.
//
// Guarantees:
//   - Every input is accepted, and of a long one the first [MaxSource] bytes are read. Time and memory are linear in
//     its size and in the bound of the result; elements are nested at most [MaxDepth] deep.
//   - Clean of a result is that result, but for the notes of hosts, which are text then.
//   - All strings of the result are valid UTF-8, and no reference, attribute or style in it is as the sender wrote
//     it: each is parsed, checked and written anew.
//
// # Limits
//
// Without style sheets a mail that needs its own does not look as its sender wanted. Text that the sender hides by a
// sheet is shown; package mime/htmltext says what is hidden. A host that several links, or a link and the text beside
// it, name together is not recognized; the title of each link is true nevertheless.
//
// The package imports no other package of Postroom.
package safehtml
