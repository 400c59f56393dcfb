package oauth

//nolint:gosec // statements about tokens, and no tokens
const (
	insertGrant = `
INSERT INTO oauth_grants (account, client, scopes, refresh_token, granted_at)
VALUES ($1, $2, $3, $4, $5)
RETURNING id`

	revokeOldGrants = `
UPDATE oauth_grants
SET revoked = 1
WHERE account = $1
  AND client = $2
  AND revoked = 0
  AND id NOT IN (
    SELECT id
    FROM oauth_grants
    WHERE account = $1
      AND client = $2
      AND refresh_token IS NOT NULL
      AND revoked = 0
    ORDER BY id DESC
    LIMIT $3)
  AND refresh_token IS NOT NULL`

	grantColumns = `
SELECT g.id, g.account, a.email, g.client, g.scopes, g.refresh_token, g.granted_at, g.revoked`

	selectGrant = grantColumns + `
FROM oauth_grants g
JOIN accounts a ON a.id = g.account
WHERE g.refresh_token = $1`

	selectGranted = `
SELECT EXISTS (
  SELECT 1
  FROM oauth_grants
  WHERE account = $1
    AND client = $2
    AND refresh_token IS NOT NULL
    AND revoked = 0)`

	revokeGrant = `
UPDATE oauth_grants
SET revoked = 1
WHERE id = $1`

	revokeGrantsOf = `
UPDATE oauth_grants
SET revoked = 1
WHERE account = $1`

	revokeToken = `
UPDATE oauth_grants
SET revoked = 1
WHERE revoked = 0
  AND (refresh_token = $1 OR id = (SELECT grant_id FROM oauth_tokens WHERE token = $1))`

	insertCode = `
INSERT INTO oauth_codes (code, grant_id, redirect_uri, challenge, challenge_method, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)`

	selectCode = grantColumns + `,
  c.redirect_uri, c.challenge, c.challenge_method, c.expires_at, c.used
FROM oauth_codes c
JOIN oauth_grants g ON g.id = c.grant_id
JOIN accounts a ON a.id = g.account
WHERE c.code = $1`

	useCode = `
UPDATE oauth_codes
SET used = 1
WHERE code = $1`

	insertToken = `
INSERT INTO oauth_tokens (token, grant_id, scopes, expires_at)
VALUES ($1, $2, $3, $4)`

	selectToken = `
SELECT a.id, a.email, t.scopes
FROM oauth_tokens t
JOIN oauth_grants g ON g.id = t.grant_id
JOIN accounts a ON a.id = g.account
WHERE t.token = $1
  AND t.expires_at > $2
  AND g.revoked = 0`

	expireTokensOf = `
UPDATE oauth_tokens
SET expires_at = $1
WHERE expires_at > $1
  AND grant_id IN (SELECT id FROM oauth_grants WHERE account = $2)`

	selectAccounts = `
SELECT id, email
FROM accounts
ORDER BY id`

	selectAccount = `
SELECT id, email
FROM accounts
WHERE email_key = $1`
)
