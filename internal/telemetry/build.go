package telemetry

import (
	"runtime"
	"runtime/debug"
)

// Build says which program this is.
type Build struct {
	Version  string `json:"version"` // of the module, "dev" when built outside of a release
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a changed working tree
	Go       string `json:"go"`
}

// ReadBuild reads what the Go linker recorded about the running program.
func ReadBuild() Build {
	b := Build{Version: "dev", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
