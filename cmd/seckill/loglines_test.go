package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestLogLinesComeInOrder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newLogLines(&out)
	var want strings.Builder
	for n := range mostLogLines {
		fmt.Fprintf(l, "line %d\n", n)
		fmt.Fprintf(&want, "line %d\n", n)
	}
	l.close()
	if out.String() != want.String() {
		t.Errorf("%d bytes of %d came", out.Len(), want.Len())
	}
}

func TestALogThatNobodyReadsStopsNobody(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	l := newLogLines(w)
	for n := range 2 * mostLogLines {
		fmt.Fprintf(l, "line %d\n", n) // hangs here if it waits for the reader
	}
	read := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		read <- string(all)
	}()
	l.close()
	_ = w.Close()
	out := <-read
	if !strings.HasPrefix(out, "line 0\nline 1\n") || !strings.Contains(out, `msg="log lines dropped" lines=`) {
		t.Errorf("%d bytes, from %.40q", len(out), out)
	}
}
