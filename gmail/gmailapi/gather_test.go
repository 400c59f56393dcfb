package gmailapi

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// runs has what has run together; each run lasts for a second.
type runs struct {
	mu  sync.Mutex
	ran [][]int
}

func (l *runs) run(items []int) {
	l.mu.Lock()
	l.ran = append(l.ran, items)
	l.mu.Unlock()
	time.Sleep(time.Second)
}

// soFar waits until nothing moves.
func (l *runs) soFar() [][]int {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ran)
}

func TestTheFirstRunsAtOnceAndTheOthersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l runs
		g := newGathering(100, 10*time.Millisecond, l.run)
		g.add(1)
		require.Equal(t, [][]int{{1}}, l.soFar())
		g.add(2)
		g.add(3)
		time.Sleep(9 * time.Millisecond)
		g.add(4)
		require.Len(t, l.soFar(), 1)
		time.Sleep(2 * time.Millisecond)
		require.Equal(t, [][]int{{1}, {2, 3, 4}}, l.soFar())
		g.add(5)
		time.Sleep(2 * time.Second)
		g.add(6)
		require.Equal(t, [][]int{{1}, {2, 3, 4}, {5}, {6}}, l.soFar())
		time.Sleep(time.Second)
	})
}

func TestAFullGroupWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l runs
		g := newGathering(2, 10*time.Millisecond, l.run)
		for i := range 6 {
			g.add(i)
			l.soFar()
		}
		require.Equal(t, [][]int{{0}, {1, 2}, {3, 4}}, l.soFar())
		time.Sleep(2 * time.Second)
		require.Equal(t, [][]int{{0}, {1, 2}, {3, 4}, {5}}, l.soFar())
	})
}

// A run that recovers from a panic has ended as any other.
func TestARunThatRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := make(chan int, 2)
		g := newGathering(2, time.Second, func(items []int) {
			for _, i := range items {
				ran <- i
				defer func() { _ = recover() }()
				panic(i)
			}
		})
		g.add(1)
		require.Equal(t, 1, <-ran)
		synctest.Wait()
		g.add(2)
		require.Equal(t, 2, <-ran)
		synctest.Wait()
	})
}
