// Package ssftest gives tests and benchmarks the messages of the original Veneur, as gogofast generates them from its schema, and
// spans of usual sizes in both shapes. It is not for programs: gogo's registry panics when a program links two packages that
// register the enums of the proto package ssf, as this one and the original's do.
package ssftest
