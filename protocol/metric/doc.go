// Package metric holds the words the whole program shares: what kind of value a sample carries, how far it travels, what a
// series is, and what a flush makes of it.
//
// A [Sample] is lent: its bytes belong to the packet it was cut from and are valid until the parser or decoder moves on. A
// [Series] is interned: it is built once, never changes afterwards, and may be kept and read by anybody. A [Point] is what one
// series gives at the end of one interval. Everything else of the program talks in these three.
//
// The package is a leaf. It imports nothing of the project and does no input or output.
package metric
