package config

import _ "embed"

// Sample is a configuration file that has every setting, commented out with its default and a description.
//
//go:embed sample.toml
var Sample []byte

// SampleRules are the rules of the demo, and an example of a file of rules.
//
//go:embed rules.yaml
var SampleRules []byte
