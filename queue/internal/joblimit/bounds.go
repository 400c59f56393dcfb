package joblimit

// A Capacity is how many more jobs a claim may take of a type or a limit key, however many lanes have them.
type Capacity struct{ left int }

// NewCapacity returns one of n jobs.
func NewCapacity(n int) *Capacity { return &Capacity{left: n} }

// Left returns how many more may be taken.
func (c *Capacity) Left() int { return c.left }

// Bounds are the capacities that a job takes of: that of its type, and that of its limit key if it waits for one.
type Bounds struct{ Type, Key *Capacity }

// Left returns how many jobs may be taken within the bounds.
func (b *Bounds) Left() int {
	if b.Key == nil {
		return b.Type.left
	}
	return min(b.Type.left, b.Key.left)
}

// Take takes one job off the bounds, and reports whether they allow it.
func (b *Bounds) Take() bool {
	if b.Left() <= 0 {
		return false
	}
	b.Type.left--
	if b.Key != nil {
		b.Key.left--
	}
	return true
}
