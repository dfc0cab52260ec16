package ingest

// Descriptors that connections leave for the rest: HTTP, sinks, datagrams, files, and whatever the runtime holds. Of few, half.
const reservedFiles = 512

// connectionLimit returns how many connections the listener may have open: max_connections, or, where the system lets the process open fewer
// files, its share of those that connections may take. With all descriptors held by idle connections nobody could ask for the daemon's health,
// and no sink could connect.
func (b *binding) connectionLimit() int {
	files, known := fileLimit()
	if !known {
		return b.maxConnections
	}
	room := connectionRoom(files, b.sharers)
	if room >= b.maxConnections {
		return b.maxConnections
	}
	b.logger.Warnf("%s: takes %d connections at most, not the %d of max_connections: the system lets the process open %d files (ulimit -n, LimitNOFILE)",
		b.src.name, room, b.maxConnections, files)
	return room
}

// connectionRoom is how many connections each of n listeners may have of so many files.
func connectionRoom(files, n int) int {
	return max(1, (files-min(reservedFiles, files/2))/max(1, n))
}
