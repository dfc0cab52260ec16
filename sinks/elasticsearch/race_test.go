//go:build race

package elasticsearch

const raced = true
