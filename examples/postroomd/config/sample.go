package config

import _ "embed"

// Sample is a configuration file that has every setting, commented out with its default and a description.
//
//go:embed sample.toml
var Sample []byte
