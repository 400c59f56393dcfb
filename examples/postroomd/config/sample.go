package config

import _ "embed"

// Sample is a configuration file in which every setting stands commented out with its default, and what it means.
//
//go:embed sample.toml
var Sample []byte
