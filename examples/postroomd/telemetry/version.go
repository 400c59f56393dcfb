package telemetry

import (
	"cmp"
	"runtime/debug"
)

// Version is the version of the module, or its commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return cmp.Or(s.Value, "unknown")
		}
	}
	return "unknown"
}
