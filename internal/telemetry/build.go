package telemetry

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker where a release is built: -ldflags '-X …/internal/telemetry.version=v1.2.3'.
var version string //nolint:gochecknoglobals // the linker can set nothing else

// Build says which program this is.
type Build struct {
	Version  string `json:"version"` // of the release, else what Go made of the commit, else "dev"
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a changed working tree
	Go       string `json:"go"`
}

// ReadBuild reads what the Go linker recorded about the running program.
func ReadBuild() Build {
	b := Build{Version: "dev", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if ok {
		b.read(info)
	}
	if version != "" {
		b.Version = version
	}
	return b
}

func (b *Build) read(info *debug.BuildInfo) {
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
}
