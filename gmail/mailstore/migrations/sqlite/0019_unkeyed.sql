-- A daemon from before 0017 that stores messages beside this one leaves their keys out: these wait for theirs as well, and are found
-- meanwhile by reading them; see senders.go.
DROP INDEX messages_unkeyed;

CREATE INDEX messages_unkeyed ON messages (account_id, id)
  WHERE COALESCE(from_key, '') = '' AND OCTET_LENGTH(from_email) <> LENGTH(from_email);
