package admin

import "github.com/veneurd/veneur/internal/telemetry"

const reasonTooMany = "too_many_connections"

var descRefused = telemetry.Desc{
	Name: "admin.refused", Kind: telemetry.Counter, Unit: "connections", Tags: []string{"reason"},
	Help: "Connections to the HTTP port closed because too many were open: one without a request, else one that is slow to read its answer, else the newest.",
}

// Descs returns what this package counts.
func Descs() []telemetry.Desc { return []telemetry.Desc{descRefused} }
