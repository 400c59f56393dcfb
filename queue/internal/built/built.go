// Package built reads the build information of the program.
package built

import "runtime/debug"

// MaxVersion is the length of a version in bytes at most.
const MaxVersion = 80

// shortCommit is as much of a commit as names it.
const shortCommit = 12

// Version returns the version of the main module, or the beginning of the commit; empty if neither is known.
func Version() (version string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if version = info.Main.Version; version == "(devel)" {
		version = ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && version == "" {
			version = s.Value[:min(len(s.Value), shortCommit)]
		}
	}
	return version[:min(len(version), MaxVersion)]
}
