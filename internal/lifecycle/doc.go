// Package lifecycle starts the parts of the daemon in order and stops them in reverse.
//
// A part is a [Runner]; one that must get hold of something first, such as a socket, is a [Starter] too. A [Group] holds them in stages,
// downstream first: what receives is started before what sends to it, and stopped after it, so that what is under way when the
// daemon is told to stop still has somewhere to go.
//
//	group := lifecycle.New(log)
//	group.Stage("sinks", 5*time.Second, deliveries...)
//	group.Stage("listeners", time.Second, listeners...)
//	err := group.Run(ctx)
//
// Run returns nil only for a stop that was asked for. A Runner that fails, panics, or ends unasked stops the whole group and is what Run
// returns, so that the process ends with a code that says so.
package lifecycle
