//go:build !linux

package main

import "net"

// newDatagrams ignores gso: datagrams go one by one.
func newDatagrams(conn net.Conn, _ bool) (transport, error) { return plain{conn}, nil }
