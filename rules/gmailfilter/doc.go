// Package gmailfilter imports Gmail's filters as rules and exports rules as Gmail's filters.
//
// [Read] and [Write] are the XML file of Gmail's settings page; [Import] and [Export] translate. What the other side
// cannot express is left out whole and listed with its reason.
package gmailfilter
