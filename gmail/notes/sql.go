package notes

const (
	noteColumns = `id, account_id, message_id, path, text, created_at`

	sqlInsertNote = `
INSERT INTO notes (` + noteColumns + `)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING`

	// A new file is where another was that a person has removed.
	sqlLeavePath = `
UPDATE notes
SET path = ''
WHERE path = $1 AND id <> $2`

	sqlDeleteNote = `DELETE FROM notes WHERE id = $1`

	sqlNote = `
SELECT ` + noteColumns + `
FROM notes
WHERE id = $1`

	// A person may approve an action after a later one was carried out.
	sqlNotesOfMessage = `
SELECT ` + noteColumns + `
FROM notes
WHERE account_id = $1 AND message_id = $2
ORDER BY created_at, id`

	fileColumns = `path, account_id, message_id, thread_id, attached, sha256, earlier, written_at`

	// The path can be that of a file that a person has removed.
	sqlSaveFile = `
INSERT INTO note_files (` + fileColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (path) DO UPDATE
SET account_id = excluded.account_id, message_id = excluded.message_id, thread_id = excluded.thread_id,
  attached = excluded.attached, sha256 = excluded.sha256, earlier = excluded.earlier, written_at = excluded.written_at`

	sqlDeleteFile = `DELETE FROM note_files WHERE path = $1 AND message_id = $2`

	sqlFilesOfMessage = `
SELECT ` + fileColumns + `
FROM note_files
WHERE account_id = $1 AND message_id = $2
ORDER BY path`

	sqlNewestOfThread = `
SELECT path
FROM note_files
WHERE account_id = $1 AND thread_id = $2 AND message_id <> $3 AND attached = 0
ORDER BY written_at DESC, path DESC
LIMIT 1`

	sqlForgetNotes = `DELETE FROM notes WHERE account_id = $1`
	sqlForgetFiles = `DELETE FROM note_files WHERE account_id = $1`
)
