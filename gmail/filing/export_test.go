package filing

import "context"

// Outside has the calls that touch files made by a function, which may refuse them.
func (c *Cabinet) Outside(by func(ctx context.Context, name string, call func() error) error) {
	c.outside = by
}
