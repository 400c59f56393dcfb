package rulesfile

// A shape has the keys of a mapping in a rules file, in the order in which they are written, and the types of their
// values. A list has the shape of its entries.
type shape struct {
	keys  []string
	below map[string]*shape
	self  string // the key whose value is a list of mappings of this same shape
	block bool   // it is written over several lines
	apart bool   // its entries stand apart
}

var (
	messageKeys = []string{
		"account", "from", "reply_to", "to", "cc", "bcc", "subject", "date", "received", "headers", "labels",
		"attachments", "size",
		"authenticated", "sender_seen", "sender_written_to", "i_wrote", "they_wrote", "body", "html",
	}
	testKeys     = []string{"name", "eml", "message", "now", "rules", "without", "actions"}
	fileKeys     = []string{"labels", "snippets", "matching", "rules", "tests"}
	scheduleKeys = []string{"from", "until", "times", "weekdays", "label_only_until", "zone"}
	actionKeys   = []string{"action", "parameters"}

	lines         = shape{block: true}
	scheduleShape = shape{keys: scheduleKeys}
	actionShape   = shape{keys: actionKeys}
	actionsShape  = shape{block: true, below: map[string]*shape{"": &actionShape}}

	conditionShape = shape{keys: conditionKeys, self: "children"}

	ruleShape = shape{keys: ruleKeys, block: true, below: map[string]*shape{
		"condition": &conditionShape, "actions": &actionsShape, "schedule": &scheduleShape,
	}}

	messageShape  = shape{keys: messageKeys}
	expectedShape = shape{below: map[string]*shape{"": &actionShape}}
	testShape     = shape{keys: testKeys, block: true, below: map[string]*shape{"message": &messageShape,
		"actions": &expectedShape}}

	fileShape = shape{keys: fileKeys, block: true, apart: true, below: map[string]*shape{
		"labels": &lines, "snippets": &lines,
		"rules": {block: true, apart: true, below: map[string]*shape{"": &ruleShape}},
		"tests": {block: true, apart: true, below: map[string]*shape{"": &testShape}},
	}}
)

// of returns the shape of the value of a key, or of the entries of a list.
func (s *shape) of(key string) *shape {
	switch {
	case s == nil:
		return nil
	case key != "" && key == s.self:
		return &shape{block: true, below: map[string]*shape{"": s}}
	}
	return s.below[key]
}
