package htmltext

import "strings"

// A cssLayer is a layer of rules. Rules of a later layer win over those of an earlier one, and rules without a layer over all.
// Important rules win in the opposite order (CSS Cascading and Inheritance 5, section 6.4).
type cssLayer struct {
	name   string
	parent int32
	rank   int32
}

// maxLayers is more than any page needs. Rules of further layers belong to the last.
const maxLayers = 128

// layer returns the number of a layer within another; 0 is the page itself. A name may have parts; without a name it is a new one.
func (s *cssSheet) layer(name string, parent int32) int32 {
	if len(s.layers) == 0 {
		s.layers = append(s.layers, cssLayer{parent: -1})
	}
	for part := range strings.SplitSeq(name, ".") {
		parent = s.layerPart(part, parent)
	}
	return parent
}

func (s *cssSheet) layerPart(name string, parent int32) int32 {
	for i := range s.layers {
		if l := &s.layers[i]; i > 0 && name != "" && l.parent == parent && l.name == name {
			return int32(i)
		}
	}
	if len(s.layers) == maxLayers {
		return maxLayers - 1
	}
	s.layers = append(s.layers, cssLayer{name: name, parent: parent})
	return int32(len(s.layers) - 1)
}

// orderLayers ranks the layers. Sublayers come before the rules directly in their layer.
func (s *cssSheet) orderLayers() {
	if len(s.layers) == 0 {
		return
	}
	rank := int32(0)
	var visit func(layer int32)
	visit = func(layer int32) {
		for i := int(layer) + 1; i < len(s.layers); i++ {
			if s.layers[i].parent == layer {
				visit(int32(i))
			}
		}
		rank++
		s.layers[layer].rank = rank
	}
	visit(0)
}

// rank is that of the layer of a selector's rule; 0 where there are no layers.
func (s *cssSheet) rank(selector *cssSelector) int32 {
	if len(s.layers) == 0 {
		return 0
	}
	return s.layers[s.rules[selector.rule].layer].rank
}
