package prefilter

// An automaton finds many patterns in one pass over a text (Aho and Corasick, 1975). It is immutable and safe for
// concurrent use. Its states are numbered by their depth: the first ones, in which a scan stays nearly always, have a
// row with all transitions; the others have their own edges and fall back to a shorter suffix.
type automaton struct {
	class   [256]uint8 // of each byte; 0 for those that no pattern holds
	classes int32

	rows []int32 // of the first denseStates states: the next state for each class
	full int32   // the number of states that have a row

	first []int32 // where the edges of each state begin; one more at the end
	edges []edge
	fail  []int32 // the state of the longest proper suffix
	out   []int32 // the pattern that ends in the state, or -1
	link  []int32 // the next state on the way of fail in which a pattern ends, or 0
}

type edge struct {
	class uint8
	to    int32
}

// denseStates bounds the memory of the rows to a few hundred kilobytes.
const denseStates = 1024

// newAutomaton makes an automaton of distinct non-empty patterns in UTF-8. UTF-8 predicates 13 bytes unused, so that
// a class fits a byte.
func newAutomaton(patterns []string) *automaton {
	a := &automaton{}
	for _, p := range patterns {
		for i := range len(p) {
			a.class[p[i]] = 1
		}
	}
	a.classes = 1
	for i := range a.class {
		if a.class[i] != 0 {
			a.class[i] = uint8(a.classes)
			a.classes++
		}
	}
	a.number(newTrie(patterns, &a.class))
	a.connect()
	return a
}

// A trie is the tree of the patterns, as it grows.
type trie struct {
	class []uint8 // by which a node is reached
	child []int32 // the first child, or 0
	next  []int32 // the next child of the same parent, or 0
	out   []int32
}

func newTrie(patterns []string, class *[256]uint8) *trie {
	t := &trie{}
	t.add(0)
	for id, p := range patterns {
		node := int32(0)
		for i := range len(p) {
			node = t.descend(node, class[p[i]])
		}
		t.out[node] = int32(id)
	}
	return t
}

func (t *trie) add(class uint8) int32 {
	t.class, t.child, t.next, t.out = append(t.class, class), append(t.child, 0), append(t.next, 0), append(t.out, -1)
	return int32(len(t.class) - 1)
}

func (t *trie) descend(node int32, class uint8) int32 {
	for child := t.child[node]; child != 0; child = t.next[child] {
		if t.class[child] == class {
			return child
		}
	}
	child := t.add(class)
	t.next[child], t.child[node] = t.child[node], child
	return child
}

// number gives the nodes numbers by their depth and lays out their edges.
func (a *automaton) number(t *trie) {
	order := make([]int32, 1, len(t.class)) // node 0 is the root
	for state := 0; state < len(order); state++ {
		a.first = append(a.first, int32(len(a.edges)))
		a.out = append(a.out, t.out[order[state]])
		for child := t.child[order[state]]; child != 0; child = t.next[child] {
			a.edges = append(a.edges, edge{t.class[child], int32(len(order))})
			order = append(order, child)
		}
	}
	a.first = append(a.first, int32(len(a.edges)))
}

// connect computes where each state falls back to, and the rows. A state falls back to one of less depth, whose
// number is lower.
func (a *automaton) connect() {
	states := int32(len(a.out))
	a.fail, a.link = make([]int32, states), make([]int32, states)
	a.full = min(states, denseStates)
	a.rows = make([]int32, a.full*a.classes)
	for state := range states {
		fallback := a.fail[state]
		if state < a.full && state > 0 {
			copy(a.rows[state*a.classes:(state+1)*a.classes], a.rows[fallback*a.classes:])
		}
		for _, e := range a.edges[a.first[state]:a.first[state+1]] {
			if state > 0 {
				a.fail[e.to] = a.step(fallback, e.class)
			}
			if state < a.full {
				a.rows[state*a.classes+int32(e.class)] = e.to
			}
		}
		if a.link[state] = fallback; a.out[fallback] < 0 {
			a.link[state] = a.link[fallback]
		}
	}
}

// step returns the state that follows.
func (a *automaton) step(state int32, class uint8) int32 {
	for state >= a.full {
		for _, e := range a.edges[a.first[state]:a.first[state+1]] {
			if e.class == class {
				return e.to
			}
		}
		state = a.fail[state]
	}
	return a.rows[state*a.classes+int32(class)]
}

// scan calls found with each pattern in the text, at each place where it ends. If found returns false, the pattern
// was found before, and so were the shorter ones that end at the same place.
func (a *automaton) scan(text []byte, found func(pattern int32) bool) {
	state := int32(0)
	for _, c := range text {
		class := a.class[c]
		if class == 0 {
			state = 0
			continue
		}
		state = a.step(state, class)
		for at := state; at != 0; at = a.link[at] {
			if a.out[at] >= 0 && !found(a.out[at]) {
				break
			}
		}
	}
}
