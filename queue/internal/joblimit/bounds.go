package joblimit

// A Capacity is the number of jobs that a claim may still take of a type or a limit key, over all lanes.
type Capacity struct{ left int }

// NewCapacity returns a capacity of n jobs.
func NewCapacity(n int) *Capacity { return &Capacity{left: n} }

// Left returns the number of jobs that may still be taken.
func (c *Capacity) Left() int { return c.left }

// Bounds are the capacities that apply to a job: that of its type, and that of its limit key if it waits for one.
type Bounds struct{ Type, Key *Capacity }

// Left returns the number of jobs that may be taken within the bounds.
func (b *Bounds) Left() int {
	if b.Key == nil {
		return b.Type.left
	}
	return min(b.Type.left, b.Key.left)
}

// Take takes one job from the bounds, and reports whether they permit it.
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
