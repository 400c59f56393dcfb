// Package archive keeps a copy of the mail of Gmail accounts in a bucket: each message byte for byte, and what was
// decided and done about it. A bucket is a *blob.Bucket of gocloud.dev, such as a folder ([folder.Open]).
//
//	bucket, err := folder.Open("/srv/mail")
//	kept, err := archive.New(archive.Config{DB: db, Bucket: bucket.Bucket, Sync: bucket.Sync, Store: store,
//		Clients: clients})
//	err = kept.Register(dispatcher)
//	_, err = q.Enqueue(ctx, archive.NewRunJob(accountID))
//
// # The bucket
//
//	v1/ACCOUNT/raw/AA/SHA256.eml.zst             one message; AA are the first two digits of its SHA-256
//	v1/ACCOUNT/manifest/NUMBER.jsonl.zst         what has become known in one step of a run, from 1 without gaps
//
// ACCOUNT is the id of the account. Content is compressed with zstd and, if [Config].Keys has a key, then encrypted
// with age. Names of encrypted messages end with .age; those of manifests do not, so that a number is given once. A
// SHA-256 is of the content before both, so that a key can be replaced. Beside the stanza of the key a header of age
// has one of the type postroom-sum, a hash of it, so that a damaged header is not taken for one of another key. Equal
// messages of one account share an object; those of two accounts never do. The names show the SHA-256 of each message:
// who sees an encrypted bucket can find out whether a message that he has is in it.
//
// A manifest is JSON lines. The first, a [Header], names the account, the number and the SHA-256 of the manifest before
// it: a chain. Each other line is one of {"mail": [Entry]}, the state of a message from then on, or {"record": …}, a
// decision or an action of [Config].Records.
//
// # What is promised
//
// A message is archived when its object has been written, synced and read back, and a manifest that names it as well.
// Only then do the tables name it. A crash in between leaves objects that no manifest names, which the next run finds,
// and a manifest that the tables lack, which it reads. The bucket is only added to, with exceptions:
// [Config].KeepMonths removes what is old, and a manifest says before what it is, so that verification passes. An
// object is found damaged: while Gmail still has its message, a run writes that again under its name. The last manifest
// was cut by a loss of power before the tables named it: the next one takes its place.
//
// The tables are an index: [Archive.Rebuild] makes them again from the bucket alone. They know the last manifest of the
// chain, so that [Archive.Verify] finds each object that is missing, cut, altered or under another name, manifests
// removed at the end of the chain included. After Rebuild, whoever could write the bucket has to be trusted, but for a
// head that was kept elsewhere ([Status].Head). Content is bounded in size before it is read or decompressed.
//
// # Runs
//
// The first run lists the mailbox and reads each message once. Later runs read the history from where the last one
// ended: the messages that are new, and changes of labels and deletions, which need no request of their own. When Gmail
// has forgotten the history, the mailbox is listed again, and only what is not archived is read; changes of labels and
// deletions in that gap are not known to the archive. A run is a chain of jobs of [RunJob], each for at most a minute
// and [sliceMessages] messages; it leaves a part of the quota to others, and goes on where it was interrupted. One
// message is in memory at a time. A message that Gmail fails to give five times is left to the next run. Drafts are not
// archived, and spam and trash by choice.
//
// # Coming back
//
// [Archive.Export] writes an mbox, a Maildir or a zip. [RestoreJob] puts messages back into Gmail, each once, and its
// undo moves them to the trash again. [Archive.DeleteKind] replaces the action delete: the message is archived and
// verified before, and so the deletion can be undone.
//
// One process at a time may write into a folder: [folder.Bucket.Lock] keeps the others out. Processes that share an
// account need a bucket that refuses to replace an object, as those of clouds do.
package archive
