// Package config loads, overrides, checks and prints configurations. It knows nothing of the keys themselves: those are the
// tagged fields of structs that other packages keep beside what they configure.
//
// In the order they are met: [Parse] reads a YAML file into a [Document]; [Document.Decode] writes it over a struct that holds the
// defaults; [Document.ApplyEnv] lets the environment win over the file; the struct's own Validate says what is wrong as [Faults], and
// [Document.Locate] adds the lines. A subtree whose struct is known only later (the configuration of a kind of sink) waits as a
// [Raw]. Values that must not be seen are a [Secret]. [AppendYAML] and [AppendJSON] print the result with secrets hidden.
//
//	doc, err := config.Parse("veneur.yaml", data)
//	...
//	c := DefaultConfig()
//	err = doc.Decode(&c)                           // every fault of the file at once
//	warnings, err := doc.ApplyEnv(&c, os.Environ())
//	err = c.Validate()                             // every value out of bounds at once
//
// # Fields
//
// A field with a tag `yaml:"key"` is one key. `yaml:",inline"` on a struct puts its keys beside those of the struct around it, and
// so does embedding without a tag; other fields without a tag, and those tagged "-", are no keys. `alias:"old,older"` names keys
// that mean the same; giving two of them is a fault. A struct may have
//
//	ObsoleteKeys() []Obsolete   // keys that once were
//	SetDefaults()               // on the pointer: what an element of a list or map starts from, instead of zero
//
// Types: text, booleans, integers, floats, time.Duration, encoding.TextUnmarshaler, [Secret], [Raw], and pointers, lists, maps by text,
// and structs of them; a struct that is a TextUnmarshaler as well may be written either way. The type decides, not the quotes: 4 and "4" are the same number. A list or map in the file replaces the
// default one; a null leaves the default, as if the key were not there. A duration is written "10s", "1m30s"; a plain number is
// seconds, 10 or "10" or 0.5. Numbers are finite; an integer with a leading zero is refused because readers disagree on its base.
//
// # Variables and files
//
// ${NAME} in a value of the file is replaced by the environment variable, ${NAME:-text} by text when that is unset or empty, $${ is a plain
// ${. Keys and values from the environment itself are not expanded. A Secret written file:/path is read from that file when it is
// decoded, at most 64 KiB of a regular file, without the newlines at its end.
//
// # Environment
//
// VENEUR_ and the key in capitals overrides the key: VENEUR_INTERVAL=5s. Levels are joined by an underscore, or by two where one could be
// meant otherwise, and the elements of lists are counted from 0: VENEUR_METRIC_SINKS_0_NAME. The index one past the end
// adds an element. Below a Raw, whose keys are not known yet, two underscores separate levels and one belongs to the key:
// VENEUR_METRIC_SINKS_0_CONFIG_API_KEY, VENEUR_METRIC_SINKS_0_CONFIG_TLS__CA_FILE. A list of plain values is a,b,c or [a, b, c]; whole
// structs, maps and lists of structs are YAML or JSON on one line. VENEUR_EMIT_… belongs to veneur-emit and is passed over.
//
// # Limits
//
// A file has at most [MaxSize] bytes, values nest at most 100 deep, aliases may not multiply it by much, and 100 faults are shown.
// Memory and time are linear in the size of the file. Nothing here is safe for concurrent use, as nothing here needs it.
package config
