// Package partial holds what spans give to span metrics: groups with sums, as many as limits allow, and one bucket a family for the rest.
//
// A [Set] is filled by spans ([Set.Add]) and by other sets ([Set.Merge]), and travels as the protobuf message [Aggregate]. However a stream of
// spans is cut into sets, and in whatever order they are merged, the sums over groups and overflow are those of the whole stream: sketches,
// weights and sums are whole numbers. Which keys have a group of their own, and which are in overflow, depends on the order.
//
// # Limits
//
// A limit is looked at only where a key is new. A known key always finds its group. Sets that are filled for the same bucket of time, one after
// another and side by side, share which keys those are: see [Known].
//
//   - A service past its limit gives all it has to the overall overflow, and is counted in an estimate of such services.
//   - A key past the limit of its service, or of all services, goes to the overflow of its service, and is counted in an estimate of such
//     keys, one a family.
//   - A dependency that is new while its service holds half of what it may first loses the name of its span, so that few targets called
//     from many places do not use up the room: it joins, or becomes, the group of that target without a name. A name in a
//     message had its place where that was made, and keeps it as long as there is room, unless the set that takes it shares a [Known].
//
// # Ownership
//
// A Set has one owner at a time. It keeps nothing of what it is given: not the texts of a span, not the bytes of a message. What it hands out is
// lent until it changes. A set that is Reset keeps its keys and arrays for the next time, as long as those are in use.
package partial
