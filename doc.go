// Package postroom defines the types that the mail packages of Postroom share: a [Message], its [Label]s, the [Decision] made
// about it, the [Action] that follows, and the [UndoHint] that undoes the action.
//
// The package does no I/O and imports only the standard library. The packages rules, llm, safety, gmail and undo do not import
// each other, except that undo imports safety. Each declares what it needs of another as a small interface in terms of these
// types.
package postroom
