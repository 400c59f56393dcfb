// Package web is the page of postroomd: what a person who owns a mailbox looks at and steers it by, in a browser.
//
// Pages are rendered on the server, by the structs of package view that the commands print, and work without
// JavaScript: a GET shows, and a POST changes and redirects. All that a page shows is in its address. With JavaScript,
// server-sent events keep a page up to date, and keys move in it.
//
// Each request carries the person who makes it, and a route says which role it needs for which mailboxes: package
// [access] has both. What comes from mail is text for the templates, which escape it; the content security policy lets
// pages load only their own files.
package web
