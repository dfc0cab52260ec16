// Package json measures our JSON encoder beside general libraries, and beside protojson, all writing the documents of sinks/jsondoc's own benchmarks.
//
// The libraries get what suits each: maps that were made before, as encoding/json gets them (goccy-map), and structs whose fields stand in
// the order of the document, with tags as maps (goccy-struct). Keys of maps are sorted, HTML is not escaped, and the buffer is used again where
// the library can. All write the same bytes, which a test holds; protojson's differ in names and in its random blanks.
//
// It is not quite the same work: to make the maps and structs of a span takes time that is not measured here, and ours also makes keys such that
// Elasticsearch takes them, where that is asked for.
package json
