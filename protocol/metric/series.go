package metric

// Series is what samples of one name, class, scope and tag set share. It is built once, when first seen, and never changes: everybody
// may keep and read it, at any time, without a lock.
type Series struct {
	Name     string
	Tags     []string // "key:value" or "key"; sorted by bytes, unique, without the magic tags
	Kind     Kind     // as first seen; Kind.Class() is what identifies the series
	Scope    Scope
	SinkOnly string // the one sink that gets it, or "" for the routes
}
