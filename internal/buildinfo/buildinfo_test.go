package buildinfo

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrom(t *testing.T) {
	settings := func(pairs ...string) []debug.BuildSetting {
		var s []debug.BuildSetting
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	gov := runtime.Version()
	for _, tt := range []struct {
		name  string
		build *debug.BuildInfo
		want  Info
	}{
		{"no information", nil, Info{"unknown", "unknown", "unknown", gov}},
		{"nothing of version control", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Info{"(devel)", "unknown", "unknown", gov}},
		{
			"release",
			&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings("vcs.revision", "abc", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false")},
			Info{"v1.2.3", "abc", "2026-01-02T03:04:05Z", gov},
		},
		{"dirty", &debug.BuildInfo{Settings: settings("vcs.modified", "true", "vcs.revision", "abc")}, Info{"unknown", "abc+dirty", "unknown", gov}},
		{"dirty without a revision", &debug.BuildInfo{Settings: settings("vcs.modified", "true")}, Info{"unknown", "unknown", "unknown", gov}},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, from(tt.build)) })
	}
}

func TestReadLeavesNothingEmpty(t *testing.T) {
	info := Read()
	require.NotEmpty(t, info.Version)
	require.NotEmpty(t, info.Revision)
	require.NotEmpty(t, info.Date)
	require.NotEmpty(t, info.Go)
}
