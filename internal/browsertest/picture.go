package browsertest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Picture writes the whole page into the folder that POSTROOM_TEST_PICTURES names, for people to look at.
func (b *Browser) Picture(name string) {
	b.Helper()
	b.keep(name, chromedp.FullScreenshot(100))
}

// View writes what the window shows of the page, as Picture does with the whole page.
func (b *Browser) View(name string) {
	b.Helper()
	b.keep(name, chromedp.CaptureScreenshot())
}

func (b *Browser) keep(name string, screenshot chromedp.Action[[]byte]) {
	b.Helper()
	folder := os.Getenv("POSTROOM_TEST_PICTURES")
	if folder == "" {
		return
	}
	taken, err := chromedp.Run(b.ctx, screenshot)
	require.NoError(b, err)
	picture, err := png.Decode(bytes.NewReader(taken))
	require.NoError(b, err)
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	require.NoError(b, encoder.Encode(&small, reduce(picture)))
	//nolint:gosec // the folder is that of who runs the test
	require.NoError(b, os.WriteFile(filepath.Join(folder, name+".png"), small.Bytes(), 0o600))
}

// colors are as many as a palette of PNG may have.
const colors = 256

// reduce draws a picture in its most frequent colors, which makes its file much smaller. Bright ones count more: the
// green of a small dot is not to be lost among the greys of letters.
func reduce(picture image.Image) image.Image {
	bounds := picture.Bounds()
	pixels := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(picture, x, y)
			pixels[c] += 1 + int(max(c.R, c.G, c.B)-min(c.R, c.G, c.B))/4
		}
	}
	frequent := slices.SortedFunc(maps.Keys(pixels), func(a, b color.RGBA) int { return pixels[b] - pixels[a] })
	palette := make(color.Palette, 0, colors)
	for _, c := range frequent[:min(colors, len(frequent))] {
		palette = append(palette, c)
	}
	nearest := make(map[color.RGBA]uint8, len(pixels))
	for c := range pixels {
		nearest[c] = uint8(palette.Index(c))
	}
	reduced := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			reduced.SetColorIndex(x, y, nearest[at(picture, x, y)])
		}
	}
	return reduced
}

func at(picture image.Image, x, y int) color.RGBA {
	r, g, b, _ := picture.At(x, y).RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
}
