package auth

import "time"

// Age makes the current token of the source older.
func Age(s *Source, by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	older := *s.current
	older.Expiry = older.Expiry.Add(-by)
	s.renewAt = s.renewAt.Add(-by)
	*s.current = older
}
