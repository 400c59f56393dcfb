//go:build !race

package costtest

const raceDetector = false
