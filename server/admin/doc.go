// Package admin is the daemon's HTTP port: is it alive, is it ready, what does it count, how is it configured, where does it spend its time.
//
// A [Server] knows the rest of the daemon by the functions in [Settings] only. [New] opens nothing, Start binds, Run serves until its
// context is done; being first to start and last to stop, it can still tell a load balancer that the daemon drains. The port is no
// secret kept: it has no passwords, so it is meant for a loopback or an inner network, and what it shows of the configuration must have
// its secrets hidden. What a stranger can cost it is bounded: connections, header bytes and time.
package admin
