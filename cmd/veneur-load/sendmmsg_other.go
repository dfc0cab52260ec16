//go:build !linux

package main

import "net"

// newDatagrams ignores gso: datagrams go one by one.
func newDatagrams(conn net.Conn, _ bool) (connection, transport, error) {
	return conn, plain{conn}, nil
}
