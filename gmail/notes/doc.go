// Package notes keeps notes about mail as Markdown files with YAML front matter in a folder: a vault, as Obsidian and
// programs like it read one.
//
//	vault, err := notes.New(notes.Config{DB: db, Folder: "/home/ada/vault", Message: store.Message, Mailbox: address})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{
//		notes.Kind(func() *notes.Vault { return vault })}})
//
// # The way of a note
//
// [Kind] is the action add_note, which rules, models and people can decide on. A message has one note, whose path is
// made of [Config].Path. A second action about the message adds its text to the note; a text that the note has already
// changes nothing, not even the time of the file.
//
// The database has the hash of each file that was written. A file is ours as long as it has that hash. What a person
// has edited, moved or deleted is never written again, and never removed: a further text about the message goes into a
// file beside it, and the undo of an action whose note was edited fails and says why. A file that is in the way of a
// new note, whosever it is, stays as it is, and the new note gets a few digits after its name. Those are of the
// message, so that the same mail gives the same names elsewhere.
//
// # Crashes
//
// What is to be written is stored as a step of the action's job before it is written. A new file is written beside its
// place, synced, and linked there, which fails if the place is taken; a changed file is renamed over the old one. An
// attempt after a crash finds the bytes that it wants in place and takes them for its own. The rows are written in the
// transaction that completes the action.
//
// # Hostile mail
//
// Files are opened with [os.Root], so that no name and no symbolic link leads out of the folder. The names of files
// have none of the characters that a file system or a link in Obsidian takes for something else. Values of the front
// matter are quoted, and have nothing in them that is a link, an image, HTML or code where they are shown. Texts in the
// body are escaped: they are shown as they were written, and are no Markdown. Attached files that Obsidian would run or
// show as notes get the ending .txt.
package notes
