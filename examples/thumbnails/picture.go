package main

import (
	"errors"
	"image"
	_ "image/jpeg"
	"image/png"
	"os"
)

func shrink(picture image.Image) image.Image {
	small, from := image.NewRGBA(image.Rect(0, 0, side, side)), picture.Bounds()
	for x := range side {
		for y := range side {
			small.Set(x, y, picture.At(from.Min.X+x*from.Dx()/side, from.Min.Y+y*from.Dy()/side))
		}
	}
	return small
}

func read(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	picture, _, err := image.Decode(f)
	return picture, err
}

func write(file string, picture image.Image) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, picture), f.Close())
}
