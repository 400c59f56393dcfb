package safehtml

import (
	"bytes"
	"encoding/base64"
	"html"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/url"
	"strconv"
	"strings"
)

const (
	maxAlt    = 300      // of the text of a picture, in bytes
	maxPixels = 16 << 20 // of all pictures together: browsers take at least four bytes for each
	stepBytes = 8        // of a picture that are looked at in the time of a step, see maxSteps
)

// image writes a picture, or what stands in its place.
func (c *cleaner) image(a attributes) {
	alt, described := a["alt"]
	alt = plainText(alt, maxAlt)
	source := strings.TrimSpace(a["src"])
	if content := c.content(source); content != nil {
		c.embed(content, `" alt="`+html.EscapeString(alt)+`"`+a.kept()+">")
		return
	}
	if source != "" {
		c.page.NotLoaded++
	}
	switch {
	case alt != "":
		c.text("[" + alt + "] ")
	case !described && !isDot(a):
		c.text("[picture] ")
	}
}

// embed writes a picture in place of its address, and the rest of its tag.
func (c *cleaner) embed(content []byte, rest string) {
	const begin = `<img src="`
	if len(begin)+len(rest) > c.room() {
		c.page.Cut = true
		return
	}
	address := "data:" + rasterType(content) + ";base64," + base64.StdEncoding.EncodeToString(content)
	c.pictures += len(content)
	c.pixels += pixels(content)
	c.encoded += len(address)
	c.out.WriteString(begin + address + rest)
}

// content returns the picture of an address, if it comes with the mail and there is room for it.
func (c *cleaner) content(source string) []byte {
	scheme, rest, _ := strings.Cut(source, ":")
	var content []byte
	switch strings.ToLower(scheme) {
	case "cid":
		if id, err := url.PathUnescape(rest); err == nil && c.Picture != nil {
			content = c.Picture(id)
		}
	case "data":
		if at := strings.Index(rest, ";base64,"); at >= 0 && at < 100 && len(rest) < 2*c.MaxPictureBytes {
			encoded := strings.Join(strings.Fields(rest[at+len(";base64,"):]), "")
			content, _ = base64.StdEncoding.DecodeString(encoded)
		}
	}
	if rasterType(content) == "" || c.pictures+len(content) > c.MaxPictureBytes {
		return nil
	}
	c.steps += len(content) / stepBytes
	if n := pixels(content); n == 0 || c.pixels+n > maxPixels {
		return nil
	}
	return content
}

// configs read the sizes of pictures, by their types.
var configs = map[string]func(io.Reader) (image.Config, error){"image/png": png.DecodeConfig,
	"image/gif": gif.DecodeConfig, "image/jpeg": jpeg.DecodeConfig}

// pixels returns how many a picture has, as it says itself; 0 if it cannot be read.
func pixels(content []byte) int64 {
	config, err := configs[rasterType(content)](bytes.NewReader(content))
	if err != nil {
		return 0
	}
	return int64(config.Width) * int64(config.Height)
}

// rasterType returns the type of a picture that consists of pixels, by its first bytes, whatever its sender says that
// it is; empty for all else.
func rasterType(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		return "image/gif"
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	}
	return ""
}

// isDot reports whether a picture is too small to show anything.
func isDot(a attributes) bool {
	for _, name := range []string{"width", "height"} {
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(a[name]), "px")); err == nil && n <= 2 {
			return true
		}
	}
	return false
}
