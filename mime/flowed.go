package mime

import "bytes"

// unflow joins the lines of each paragraph of a format=flowed text (RFC 3676, section 4.1): a line that ends in a
// blank continues in the next, if that has the same quote depth. With delSp the blank is not part of the text. Quotes
// keep their marks, one ">" for each level and a blank. Lines end in LF.
//
// It works on the bytes before their charset is decoded. Text with two or four bytes for each character is left
// unchanged.
func unflow(b []byte, delSp bool) []byte {
	if bytes.IndexByte(b, 0) >= 0 {
		return b
	}
	out := make([]byte, 0, len(b)+bytes.Count(b, []byte{'>'}))
	flowing, depth := false, 0 // whether the previous line continues, and its quote depth
	for line := range bytes.Lines(b) {
		line, ended := bytes.CutSuffix(line, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		content := bytes.TrimLeft(line, ">")
		quotes := len(line) - len(content)
		content = bytes.TrimPrefix(content, []byte{' '}) // stuffed (section 4.4)
		isSignature := string(content) == "-- "
		if flowing && (quotes != depth || isSignature) {
			out = append(out, '\n') // an improper end of the paragraph (section 4.5)
			flowing = false
		}
		if !flowing && quotes > 0 {
			out = append(out, line[:quotes]...)
			if len(content) > 0 {
				out = append(out, ' ')
			}
		}
		flowing, depth = bytes.HasSuffix(content, []byte{' '}) && !isSignature, quotes
		if flowing && delSp {
			content = content[:len(content)-1]
		}
		out = append(out, content...)
		if ended && !flowing {
			out = append(out, '\n')
		}
	}
	if flowing && bytes.HasSuffix(b, []byte{'\n'}) {
		out = append(out, '\n')
	}
	return out
}
