// Package buildinfo says which build of the program is running. All of it comes from what the Go toolchain stamps into a binary, so
// there is nothing to set by hand at a release.
package buildinfo

import (
	"runtime"
	"runtime/debug"
)

// unknown stands for what a binary does not tell, as when it was built with -buildvcs=false.
const unknown = "unknown"

// Info is one build. No field is empty.
type Info struct {
	Version  string // "v1.2.3"; a pseudo-version between releases; "(devel)" without version control
	Revision string // of version control, with "+dirty" when files differed from it
	Date     string // of the revision, RFC 3339 in UTC: builds of one revision are equal
	Go       string // "go1.26.1"
}

// Read returns the build of the running binary.
func Read() Info {
	build, _ := debug.ReadBuildInfo()
	return from(build)
}

func from(build *debug.BuildInfo) Info {
	info := Info{Version: unknown, Revision: unknown, Date: unknown, Go: runtime.Version()}
	if build == nil {
		return info
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	dirty := false
	for _, s := range build.Settings {
		if s.Value == "" {
			continue
		}
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.time":
			info.Date = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && info.Revision != unknown {
		info.Revision += "+dirty"
	}
	return info
}
