package nestedwrite_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/internal/nestedwrite"
)

func TestInside(t *testing.T) {
	var a, b nestedwrite.Guard
	require.False(t, a.Inside())
	a.Run(func() {
		require.True(t, a.Inside())
		require.False(t, b.Inside())
		b.Run(func() {
			require.True(t, a.Inside())
			require.True(t, b.Inside())
		})
		require.True(t, a.Inside())
	})
	require.False(t, a.Inside())
}

func deeper(n int, fn func()) {
	if n == 0 {
		fn()
		return
	}
	deeper(n-1, fn)
}

func TestInsideFindsAFrameThatIsFarAway(t *testing.T) {
	var g nestedwrite.Guard
	g.Run(func() { deeper(1000, func() { require.True(t, g.Inside()) }) })
}

// Another goroutine's write is not the caller's.
func TestInsideOfAnother(t *testing.T) {
	var a, b nestedwrite.Guard
	began, end := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		a.Run(func() {
			close(began)
			<-end
		})
	})
	<-began
	require.False(t, a.Inside())
	// Whose write of a runs while the caller is inside one of b shows when the other has ended.
	b.Run(func() {
		var answer sync.WaitGroup
		asked := make(chan struct{})
		answer.Go(func() {
			<-asked
			close(end)
		})
		close(asked)
		require.False(t, a.Inside())
		answer.Wait()
	})
	wg.Wait()
}

func TestAWriteEndsWithItsGoroutine(t *testing.T) {
	var g nestedwrite.Guard
	var wg sync.WaitGroup
	wg.Go(func() { g.Run(runtime.Goexit) })
	wg.Wait()
	require.Panics(t, func() { g.Run(func() { panic("") }) })
	require.False(t, g.Inside())
}

func BenchmarkRun(b *testing.B) {
	var g nestedwrite.Guard
	for b.Loop() {
		g.Run(func() {})
	}
}

func BenchmarkInsideOfNone(b *testing.B) {
	var g nestedwrite.Guard
	for b.Loop() {
		g.Inside()
	}
}

func BenchmarkInside(b *testing.B) {
	var g, h nestedwrite.Guard
	g.Run(func() {
		h.Run(func() {
			for b.Loop() {
				g.Inside()
			}
		})
	})
}

// The usual case where many goroutines write.
func BenchmarkInsideOfOthers(b *testing.B) {
	var g nestedwrite.Guard
	began, end := make(chan struct{}), make(chan struct{})
	go g.Run(func() {
		close(began)
		<-end
	})
	<-began
	for b.Loop() {
		g.Inside()
	}
	close(end)
}
