// Package postroom holds the words that the rooms of Postroom share: a [Message], its [Label]s, the [Decision] made
// about it, the [Action] that follows, and the [UndoHint] that takes the action back.
//
// There is no I/O here and nothing but the standard library. Packages that do not know each other (rules, llm, safety,
// gmail, undo) meet in these types; what one room needs of another it asks for as a small interface in terms of them.
package postroom
