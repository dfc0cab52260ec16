package config

import (
	"net/url"
	"strings"
)

// secretNames are parts of the names of query parameters that carry a credential.
var secretNames = []string{"key", "token", "secret", "passw", "pwd", "auth", "sig", "credential", "session"}

// RedactURL hides the user, the password and the values of parameters such as api_key in every URL of a text: a URL alone, or an
// error that quotes one. It works on the text, not on the parsed URL, since errors quote just those that cannot be parsed.
func RedactURL(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString("://")
		end := strings.IndexAny(after, " \t\r\n\"'<>`")
		if end < 0 {
			end = len(after)
		}
		writeRedacted(&out, after[:end])
		text = after[end:]
	}
}

// writeRedacted writes what follows "://" in a URL.
func writeRedacted(out *strings.Builder, rest string) {
	authority := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = i
	}
	at := strings.LastIndexByte(rest[:authority], '@')
	if _, port, ok := strings.Cut(rest[:authority], ":"); at < 0 && ok && !isPort(port) && !strings.HasPrefix(rest, "[") {
		// No host and port: a password with a character that should have been escaped.
		at = strings.LastIndexByte(rest, '@')
	}
	if at >= 0 {
		out.WriteString(Redacted + "@")
		rest = rest[at+1:]
	}
	path, query, found := strings.Cut(rest, "?")
	out.WriteString(path)
	if !found {
		return
	}
	out.WriteByte('?')
	for query != "" {
		pair, separator := query, ""
		if i := strings.IndexAny(query, "&;#"); i >= 0 {
			pair, separator = query[:i], query[i:i+1]
		}
		query = query[len(pair)+len(separator):]
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" && isSecretName(name) {
			pair = name + "=" + Redacted
		}
		out.WriteString(pair + separator)
	}
}

func isPort(text string) bool { return strings.Trim(text, "0123456789") == "" }

func isSecretName(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
