package rules

// A trigger says how the index finds a condition: in every message that matches it, one of the keys or literals is in the
// texts of its source, or a source is not empty, or one of the atoms is true. The zero trigger is that of a condition that has
// to be tried with every message.
type trigger struct {
	cost     int // how often and at what price it will be found; 0 for the zero trigger
	keys     []sourceText
	literals []sourceText
	present  []int32
	atoms    []int32
}

// A sourceText is a text to be found in a source: a whole text in the form in which case does not count, or a literal in its
// normal form.
type sourceText struct {
	source int32
	text   string
}

// The costs, from the best trigger to the worst.
const (
	costKey     = 1
	costLiteral = 10 // and more for a short one, and more in the body
	costPresent = 40
	costLabel   = 60
	costAtom    = 80
)

func (t *trigger) isZero() bool { return t.cost == 0 }

// either joins the triggers of alternatives.
func (t *trigger) either(other trigger) {
	t.cost = max(t.cost, other.cost)
	t.keys = append(t.keys, other.keys...)
	t.literals = append(t.literals, other.literals...)
	t.present = append(t.present, other.present...)
	t.atoms = append(t.atoms, other.atoms...)
}

// triggerOf returns the best trigger of a condition, or of its opposite.
func (k *code) triggerOf(n *node, opposite bool) trigger {
	op := n.op
	if opposite && op == And {
		op = Or
	} else if opposite && op == Or {
		op = And
	}
	switch op {
	case And:
		var best trigger
		for i := range n.children {
			t := k.triggerOf(&n.children[i], opposite)
			if best.isZero() || !t.isZero() && t.cost < best.cost {
				best = t
			}
		}
		return best
	case Or:
		var all trigger
		for i := range n.children {
			t := k.triggerOf(&n.children[i], opposite)
			if t.isZero() {
				return t
			}
			all.either(t)
		}
		return all
	case Not:
		return k.triggerOf(&n.children[0], !opposite)
	}
	if opposite {
		return trigger{}
	}
	if t := k.atoms[n.atom].trigger; !t.isZero() {
		return t
	}
	return trigger{cost: costAtom, atoms: []int32{n.atom}}
}

// textTrigger is the trigger of a leaf that matches the texts of a source; the zero trigger when there is none.
func (k *code) textTrigger(id int32, how Match, values []string) trigger {
	var t trigger
	for _, value := range values {
		var one trigger
		switch how {
		case Is:
			one = k.keyTrigger(id, value)
		case Contains:
			one = k.literalTrigger(id, oneLiteral(value))
		case Wildcard:
			one = k.literalTrigger(id, oneLiteral(wildcardLiteral(value)))
		case Regex:
			one = k.literalTrigger(id, requiredLiterals(value))
		}
		if one.isZero() {
			return one
		}
		t.either(one)
	}
	return t
}

func (k *code) keyTrigger(id int32, value string) trigger {
	src := &k.sources[id]
	if src.from == fromBody || src.from == fromBodyLine {
		return k.literalTrigger(id, oneLiteral(value))
	}
	cost := costKey
	if src.from == fromLabels || src.from == fromAccount {
		cost = costLabel
	}
	return trigger{cost: cost, keys: []sourceText{{id, src.fold(value)}}}
}

func (k *code) literalTrigger(id int32, literals []string) trigger {
	if len(literals) == 0 {
		return trigger{}
	}
	t := trigger{cost: costLiteral + max(0, 8-shortest(literals))}
	if from := k.sources[id].from; from == fromBody || from == fromBodyLine {
		t.cost += 10
		id = k.source(textSource{from: fromBody}) // both have the same normal form
	}
	for _, literal := range literals {
		t.literals = append(t.literals, sourceText{id, literal})
	}
	return t
}
