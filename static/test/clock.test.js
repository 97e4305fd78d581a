import assert from "node:assert/strict";
import test from "node:test";

import { Clock, countdown } from "../clock.js";

test("the shortest trip tells the time, whatever the browser's clock says", () => {
  let ticks = 0;
  const clock = new Clock(() => ticks);
  assert.ok(Number.isNaN(clock.now()));
  clock.sample(0, 400, 1_000_350); // a slow answer: 150 ms off
  assert.equal(clock.now(), 1_000_150);
  clock.sample(500, 520, 1_000_510); // the offset is 1,000,000
  assert.equal(clock.now(), 1_000_000);
  clock.sample(600, 900, 1_000_890); // slower: passed over
  ticks = 1000;
  assert.equal(clock.now(), 1_001_000);
});

test("an old sample gives way to a slower new one, and a doubted one to any", () => {
  const clock = new Clock(() => 0);
  clock.sample(0, 10, 1005);
  clock.sample(1000, 1030, 2115); // 20 ms slower, one second later
  assert.equal(clock.now(), 1000);
  clock.sample(60_000, 60_030, 61_115); // a minute later
  assert.equal(clock.now(), 1100);
  clock.doubt();
  clock.sample(61_000, 63_000, 64_000);
  assert.equal(clock.now(), 2000);
});

test("a countdown shows zero only when it is over", () => {
  assert.deepEqual(countdown(1), { days: 0, clock: "00:00:01" });
  assert.deepEqual(countdown(0), { days: 0, clock: "00:00:00" });
  assert.deepEqual(countdown(-5), { days: 0, clock: "00:00:00" });
  assert.deepEqual(countdown(86400_000 + 3661_000), { days: 1, clock: "01:01:01" });
});
