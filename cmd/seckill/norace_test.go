//go:build !race

package main_test

// raceDetector reports whether the tests, and so the program under test, run with the race detector.
const raceDetector = false
