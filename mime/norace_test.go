//go:build !race

package mime_test

const raceDetector = false
