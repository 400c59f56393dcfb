package rules

// A Source is rules and the text that they were read from.
type Source struct {
	Name  string // of the file
	Text  string
	Rules []Rule
}
