package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

const (
	// mostLogLines is how many lines of the log may wait for their reader.
	mostLogLines = 8_192
	// logChunk is about how many bytes of waiting lines go out in one write.
	logChunk = 64 << 10
	// logFlushTime is how long the last lines may take when the program ends.
	logFlushTime = time.Second
)

// logLines is the way of the log to standard error. A goroutine of its own writes, so that no request waits for whoever
// reads the log, and a reader that stands still stops no sale: what does not fit any more is dropped, and counted.
type logLines struct {
	lines   chan []byte
	ending  chan struct{}
	done    chan struct{}
	dropped atomic.Int64
}

// newLogLines starts the goroutine; close ends it.
func newLogLines(w io.Writer) *logLines {
	l := &logLines{lines: make(chan []byte, mostLogLines), ending: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

// Write takes a line; it never waits and never fails. After close lines go nowhere.
func (l *logLines) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// run writes lines as they come, many at once where many wait, until the end; then those that still wait.
func (l *logLines) run(w io.Writer) {
	defer close(l.done)
	var chunk []byte
	for {
		select {
		case line := <-l.lines:
			chunk = l.write(w, append(chunk[:0], line...))
		case <-l.ending:
			for len(l.lines) > 0 {
				chunk = l.write(w, chunk[:0])
			}
			return
		}
	}
}

// write writes chunk and what waits behind it, and returns the chunk for the next time.
func (l *logLines) write(w io.Writer, chunk []byte) []byte {
	for len(chunk) < logChunk && len(l.lines) > 0 {
		chunk = append(chunk, <-l.lines...)
	}
	if n := l.dropped.Swap(0); n > 0 {
		chunk = fmt.Appendf(chunk, "level=WARN msg=\"log lines dropped\" lines=%d\n", n)
	}
	_, _ = w.Write(chunk) // nobody is left to tell
	return chunk
}

// close writes what waits, unless its reader takes too long.
func (l *logLines) close() {
	close(l.ending)
	select {
	case <-l.done:
	case <-time.After(logFlushTime):
	}
}
