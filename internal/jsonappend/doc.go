// Package jsonappend appends JSON values (RFC 8259) to a buffer of the caller's. It holds what every document is made of: strings, numbers,
// times, ids and bytes, the keys of objects (Keys, Order), and trees of typed values as other systems send them (Tree).
//
// Whatever is put in, what comes out is one line of valid UTF-8 and valid JSON, and the same for the same input. Nothing allocates but the
// growth of the buffer, and of the memory that an Order or a Tree keeps for the next time.
//
// Of the same value the text is that of encoding/json without its escaping of HTML, but for this:
//   - bytes that are no UTF-8 become U+FFFD itself, where encoding/json writes its escape sequence;
//   - U+2028 and U+2029 stand as they are, unless EscapeSeparators asks for their escape sequences;
//   - keys are sorted and compared as they are written, after bytes that are no UTF-8 were replaced and the rules of Keys applied, and
//     each stands once, where encoding/json sorts them as they came and may write two alike;
//   - times always have nine digits after the point, where encoding/json leaves zeros at the end out: so they sort as text, too;
//   - NaN and the infinities, which encoding/json refuses with the whole document, are reported to the caller, who leaves them out.
package jsonappend
