package reply

import (
	"regexp"
	"slices"
	"strings"
)

// markSignatures finds signatures and footers in each run of written lines.
func (s *splitter) markSignatures() {
	for i := 0; i < len(s.lines); {
		end := i
		for end < len(s.lines) && s.lines[end].kind == Written {
			end++
		}
		if end > i {
			s.markFooter(i, end)
			s.markSignature(i, end)
		}
		i = max(end, i+1)
	}
}

// maxBareSignature bounds the lines of a signature whose delimiter lacks its blank.
const maxBareSignature = 15

// markSignature marks the signature among the lines from begin to end: from the delimiter on (RFC 3676, section 4.3),
// or that of a device.
//
// QUIRK: the blank after the two dashes gets lost. Sample: reply-signature-bare.
func (s *splitter) markSignature(begin, end int) {
	for i := begin; i < end; i++ {
		line := &s.lines[i]
		if line.kind != Written || line.text != "--" {
			continue
		}
		delimiter := strings.HasPrefix(strings.TrimRight(line.raw, "\r\n"), "-- ")
		if delimiter || end-i <= maxBareSignature && strings.HasPrefix(line.raw, "--") {
			s.markWritten(i, end, Signature)
			return
		}
	}
	s.markDevice(begin, end)
}

// markWritten marks those of the lines that have no kind yet as written.
func (s *splitter) markWritten(from, to int, kind Kind) {
	for i := from; i < to; i++ {
		if s.lines[i].kind == Written {
			s.lines[i].kind = kind
		}
	}
}

// markDevice marks the signatures of devices, which are among the last lines, without a blank line after them.
func (s *splitter) markDevice(begin, end int) {
	const last = 3
	for end > begin && (s.lines[end-1].text == "" || s.lines[end-1].kind != Written) {
		end--
	}
	for i := end - 1; i >= max(begin, end-last) && s.lines[i].text != ""; i-- {
		if isDeviceSignature(s.lines[i].text) {
			s.mark(i, end, Signature)
		}
	}
}

// markFooter marks the footers of mailing lists: Mailman's rule with a line about the list, and that of Google Groups.
func (s *splitter) markFooter(begin, end int) {
	for i := end - 1; i >= begin && i > end-20; i-- {
		text := s.lines[i].text
		rule := len(text) >= 30 && strings.Trim(text, "_") == ""
		if rule && slices.ContainsFunc(s.lines[i+1:min(end, i+4)], func(l textLine) bool { return isListLine(l.text) }) {
			s.mark(i, end, Footer)
			return
		}
		if strings.HasPrefix(text, "You received this message because you are subscribed to") {
			if i > begin && s.lines[i-1].text == "--" {
				i--
			}
			s.mark(i, end, Footer)
			return
		}
	}
}

func isListLine(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "mailing list") || strings.Contains(text, "/listinfo/") ||
		strings.Contains(text, "unsubscribe")
}

var (
	// deviceLine matches the signatures of devices in lower case: sent from it, or get it.
	deviceLine = regexp.MustCompile(`^(?:sent (?:from|via|with|using) |get outlook for |` +
		`gesendet (?:von|mit|aus) |von (?:meinem|unterwegs) .* gesendet|diese nachricht wurde von meinem |(?:holen sie sich|laden sie) outlook |` +
		`envoyé (?:de|depuis|à partir d|via|avec) ?|télécharge[rz] outlook |obten(?:ir|ez) outlook |` +
		`enviado (?:desde|con|do|da|de|a partir|via|pelo) |obtener outlook |obter o outlook |baixar o outlook |` +
		`inviato (?:da|dal|con) ?|scarica outlook |ottieni outlook |` +
		`(?:verstuurd|verzonden) (?:vanaf|vanuit|van|met|via) |(?:download|haal) outlook |outlook voor (?:ios|android) |` +
		`skickat från |hämta outlook |sendt fra |hent outlook |få outlook |lähetetty |hanki outlook |` +
		`wysłane (?:z|ze|za pomocą) |pobierz outlook |отправлено (?:с|из) |скачать outlook |` +
		`发自我的|從我的|傳送自|发自|获取 ?outlook|(?:내|나의) )|` +
		`から送信$|에서 보냄$`)
	// devices are the names in such a line. A line without one is a sentence.
	devices = regexp.MustCompile(
		`iphone|ipad|ios|apple|android|samsung|galaxy|huawei|xiaomi|redmi|oneplus|pixel|nokia|motorola|sony|xperia|` +
			`htc|wiko|lg |blackberry|windows|outlook|yahoo|gmail|gmx|web\.de|proton|spark|typeapp|bluemail|aol|\bmail\b|` +
			`phone|handy|mobil|móvil|celular|cellulare|téléphone|telefon|telefón|puhelim|telemóvel|tablet|телефон`)
	linkBehind = regexp.MustCompile(`\s*[<(]https?://[^\s<>]*[>)]`)
)

// isDeviceSignature reports whether a line is the signature of a device or of a mail program.
func isDeviceSignature(line string) bool {
	const longest = 300
	if len(line) > longest {
		return false
	}
	line = strings.TrimRight(linkBehind.ReplaceAllString(strings.ToLower(line), ""), " .")
	return len(line) <= 80 && !strings.ContainsAny(line, ",;!?:") && deviceLine.MatchString(line) &&
		devices.MatchString(line)
}
