// Package filing keeps the attached files of mail in a folder or a bucket.
//
//	cabinet, err := filing.New(filing.Config{DB: db, Folder: "/home/ada/Attachments", Message: store.Message,
//		Mailbox: address, Files: files})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{
//		filing.Kind(func() *filing.Cabinet { return cabinet })}})
//
// # The way of a file
//
// [Kind] is the action file_attachments, which rules, models and people can decide on. Its parameters select files by
// the patterns of their names and by their size, and may have another path than [Config].Path. Pictures that the HTML
// shows are left out unless the action asks for them.
//
// A file of a message, by its content, is written once, whatever actions ask for it. Before it is written the database
// has its place, which no other file gets: an attempt after a crash goes on with the same place, and takes the bytes
// that it finds there for its own. Another file in the way stays as it is, also one with the same bytes, and the new
// one gets digits of its message after its name. The rows become final in the transaction that completes the action. An
// attempt that was taken for dead, and goes on after its action was undone, can reserve a place and writes nothing
// there: the next action about the message uses it.
//
// A file is ours as long as it has the hash that was written. What a person has edited, moved or deleted is never
// written again and never removed. The undo removes the files that no other action wants, and fails if one of them was
// edited, which it names.
//
// # Folders and buckets
//
// A folder is written as package notes writes its vault: with [os.Root], so that no name and no symbolic link leads out
// of it, synced, and never over another file. It must be there. A bucket of gocloud.dev must refuse to write an object
// that exists ([blob.WriterOptions].IfNotExist). The driver for folders follows symbolic links: give Folder instead.
package filing
