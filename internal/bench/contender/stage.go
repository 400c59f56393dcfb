package contender

import "time"

// Tomorrow is when scheduled jobs are due.
func Tomorrow() time.Time { return time.Now().UTC().Add(24 * time.Hour) }

// InThousands calls fn with 1000 at most until n is reached.
func InThousands(n int, fn func(n int) error) error {
	for ; n > 0; n -= 1000 {
		if err := fn(min(n, 1000)); err != nil {
			return err
		}
	}
	return nil
}
