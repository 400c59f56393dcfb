package jobsql

import "github.com/postroom-go/postroom/queue/driver"

// SelectHolder selects the type and payload of the job $1.
const SelectHolder = `
SELECT type, payload_json
FROM /*q.*/jobs
WHERE id = $1`

// ScanHolder reads rows of [SelectHolder].
func ScanHolder(row Scanner) (h driver.KeyHolder, err error) {
	var payload []byte
	err = row.Scan(&h.Type, &payload)
	h.Payload = payload
	return h, err
}
