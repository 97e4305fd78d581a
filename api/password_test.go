package api

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/alexedwards/argon2id"

	"seckill/model"
)

func TestPasswordHash(t *testing.T) {
	t.Parallel()
	hash, err := HashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"correct horse": true, "Correct horse": false, "": false} {
		if match, err := comparePassword(context.Background(), password, hash); err != nil || match != want {
			t.Errorf("compare %q = %v, %v, want %v", password, match, err, want)
		}
	}
	if again, err := HashPassword("correct horse"); err != nil || again == hash {
		t.Errorf("two hashes of a password are equal, or %v: no salt", err)
	}
}

// A login of nobody costs what one of somebody costs.
func TestNobodysHashHasTheSameCost(t *testing.T) {
	t.Parallel()
	params, _, _, err := argon2id.DecodeHash(nobodysHash)
	if err != nil || !reflect.DeepEqual(params, hashParams()) {
		t.Errorf("nobody's hash has %+v, %v, want %+v", params, err, hashParams())
	}
}

func TestHashGateBoundsRunningAndWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const atOnce, waiting = 2, 3
		gate := newHashGate(atOnce, waiting)
		release := make(chan struct{})
		done := make(chan error)
		begin := make(chan struct{}, atOnce+waiting)
		for range atOnce + waiting {
			go func() {
				done <- gate.do(t.Context(), func() error {
					begin <- struct{}{}
					<-release
					return nil
				})
			}()
		}
		synctest.Wait()
		if started := len(begin); started != atOnce {
			t.Errorf("%d run at once, want %d", started, atOnce)
		}
		if err := gate.do(t.Context(), func() error { return nil }); !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("one too many: %v, want unavailable", err)
		}
		close(release)
		for range atOnce + waiting {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if err := gate.do(t.Context(), func() error { return nil }); err != nil {
			t.Errorf("after all are done: %v", err)
		}
	})
}

func TestHashGateHeedsTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := newHashGate(1, 1)
		release := make(chan struct{})
		done := make(chan error)
		go func() { done <- gate.do(t.Context(), func() error { <-release; return nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- gate.do(ctx, func() error { t.Error("ran without its turn"); return nil }) }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while it waits: %v", err)
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkComparePassword(b *testing.B) {
	for b.Loop() {
		if match, err := comparePassword(b.Context(), "password", nobodysHash); match || err != nil {
			b.Fatal(match, err)
		}
	}
}
