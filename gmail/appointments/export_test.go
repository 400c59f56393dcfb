package appointments

import "context"

// Outside has the calls that touch files made by a function, which may refuse them.
func (k *Keeper) Outside(by func(ctx context.Context, name string, call func() error) error) {
	k.outside = by
}
