package deciders

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

var contenders = []struct {
	name string
	make func([]Rule) (Decider, error)
}{{"postroom", NewPostroom}, {"cel-go", NewCEL}}

var sizes = []int{10, 100, 1_000, 10_000}

func decidersOf(t testing.TB, list []Rule) []Decider {
	t.Helper()
	deciders := make([]Decider, len(contenders))
	for i, c := range contenders {
		var err error
		deciders[i], err = c.make(list)
		require.NoError(t, err, c.name)
	}
	return deciders
}

// The figures compare deciders that decide alike.
func TestDecidersAgree(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprintf("%d rules", n), func(t *testing.T) {
			list := Mixed(n)
			deciders := decidersOf(t, list)
			found, none := map[int]bool{}, 0
			for _, msg := range Messages(n) {
				first, all := deciders[0].First(msg), deciders[0].All(msg)
				for i, d := range deciders[1:] {
					require.Equal(t, first, d.First(msg), "%s: %s", contenders[i+1].name, msg.Subject)
					require.Equal(t, all, d.All(msg), "%s: %s", contenders[i+1].name, msg.Subject)
				}
				if first < 0 {
					none++
					continue
				}
				found[first%len(mixedKinds)] = true
			}
			require.Len(t, found, len(mixedKinds), "a rule of each kind decides")
			require.Equal(t, len(Messages(n))/2, none)
		})
	}
}

// They agree where a message has little, or has what is nearly what a rule wants.
func TestDecidersAgreeAtTheEdges(t *testing.T) {
	deciders := decidersOf(t, Mixed(70))
	for name, change := range map[string]func(*postroom.Message){
		"nothing":        func(m *postroom.Message) { *m = postroom.Message{} },
		"starred":        func(m *postroom.Message) { m.LabelIDs = []string{"STARRED"} },
		"small":          func(m *postroom.Message) { m.Size = 1 },
		"at the limit":   func(m *postroom.Message) { m.Size = 1005 << 10 },
		"over the limit": func(m *postroom.Message) { m.Size = 1005<<10 + 1 },
		"no header":      func(m *postroom.Message) { m.Headers = nil },
		"a second header": func(m *postroom.Message) {
			m.Headers = append([]postroom.Header{{Name: "list-id", Value: "x"}}, m.Headers...)
		},
		"upper case":           func(m *postroom.Message) { m.Subject = strings.ToUpper(m.Subject) },
		"a longer number":      func(m *postroom.Message) { m.Subject += "0" },
		"other characters":     func(m *postroom.Message) { m.Subject = "İſK " + m.Subject },
		"an address is a name": func(m *postroom.Message) { m.From = postroom.Address{Name: m.From.Email} },
	} {
		for _, msg := range Messages(70) {
			change(msg)
			require.Equal(t, deciders[0].All(msg), deciders[1].All(msg), "%s: %s", name, msg.Subject)
		}
	}
}

var decided int

// BenchmarkDecide finds the first rule that matches; half of the messages match none.
func BenchmarkDecide(b *testing.B) {
	for _, n := range sizes {
		list, messages := Mixed(n), Messages(n)
		for _, c := range contenders {
			d, err := c.make(list)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("%d rules/%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					decided += d.First(messages[at])
					at = (at + 1) % len(messages)
				}
			})
		}
	}
}
