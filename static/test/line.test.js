import assert from "node:assert/strict";
import test from "node:test";

import { ahead, backoff, phaseAt, retryAfter } from "../line.js";

test("ahead counts the undecided before a ticket", () => {
  for (const [seq, served, queued, want] of [
    [1, 0, 1, 0], [5, 0, 5, 4], [5, 4, 1, 0], [5, 5, 0, 0], [5, 9, 3, 0],
    [1000, 10, 7, 6], // numbers were lost on the way: never more than there are
  ]) assert.equal(ahead(seq, served, queued), want, `${seq} ${served} ${queued}`);
});

test("the window moves the phase on by the server's clock", () => {
  const item = { phase: "upcoming", starts: 100, ends: 200, available: 1 };
  assert.equal(phaseAt(item, NaN), "upcoming");
  assert.equal(phaseAt(item, 99.9), "upcoming");
  assert.equal(phaseAt(item, 100), "open");
  assert.equal(phaseAt(item, 200), "ended");
  assert.equal(phaseAt({ ...item, available: 0 }, 100), "sold_out");
  assert.equal(phaseAt({ ...item, phase: "paused" }, 150), "paused");
  assert.equal(phaseAt({ ...item, phase: "open", ends: 0 }, 1e12), "open");
});

test("a pause doubles, has a bound and is never the same for all", () => {
  assert.equal(backoff(0, () => 0), 250);
  assert.equal(backoff(0, () => 1), 500);
  assert.equal(backoff(3, () => 1), 4000);
  assert.equal(backoff(50, () => 1), 10000);
  assert.equal(backoff(50, () => 0), 5000);
});

test("the server's Retry-After is a floor", () => {
  assert.equal(retryAfter("1", 0, () => 0), 1000);
  assert.equal(retryAfter("1", 0, () => 1), 2000);
  assert.equal(retryAfter("1", 9, () => 0), 5000);
  assert.equal(retryAfter(null, 0, () => 1), 500);
  assert.equal(retryAfter("Wed, 21 Oct 2026 07:28:00 GMT", 0, () => 1), 500);
});
