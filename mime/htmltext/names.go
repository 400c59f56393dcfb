package htmltext

// A nameTable finds names without regard to the case of A to Z, faster than a map does. Names are not empty.
type nameTable struct {
	slots [512]namedValue
}

type namedValue struct {
	name  string // in lower case
	value uint8
}

func slotOf(name string) uint {
	last := len(name) - 1
	h := uint(name[0]|0x20)*31 + uint(name[last]|0x20)*7 + uint(name[last/2]|0x20)*131 + uint(len(name))*67
	return h % uint(len(nameTable{}.slots))
}

func (t *nameTable) add(name string, value uint8) {
	i := slotOf(name)
	for t.slots[i].name != "" {
		i = (i + 1) % uint(len(t.slots))
	}
	t.slots[i] = namedValue{name, value}
}

func (t *nameTable) find(name string) (value uint8, ok bool) {
	if name == "" {
		return 0, false
	}
	for i := slotOf(name); t.slots[i].name != ""; i = (i + 1) % uint(len(t.slots)) {
		if equalASCII(name, t.slots[i].name) {
			return t.slots[i].value, true
		}
	}
	return 0, false
}

// equalASCII reports whether s equals lower when the case of A to Z is ignored.
func equalASCII(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
