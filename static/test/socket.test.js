import assert from "node:assert/strict";
import test from "node:test";

import { Feed } from "../socket.js";

// line is a feed on sockets of the test, with what it has said.
function line(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const made = [], said = [];
  globalThis.WebSocket = class {
    constructor() {
      if (made.refuse) throw new Error("forbidden");
      made.push(this);
    }
    close() {
      this.onclose?.();
    }
  };
  const feed = new Feed("ws://shop", {
    onMessage: (m) => said.push(m.type), onUp: () => said.push("up"), onDown: () => said.push("down"),
  });
  return { feed, made, said, pass: (ms) => t.mock.timers.tick(ms) };
}

test("a socket that ends comes back, and says what it hears", (t) => {
  const { feed, made, said, pass } = line(t);
  feed.open();
  feed.open(); // one is under way
  made[0].onmessage({ data: '{"type":"state"}' });
  made[0].onclose();
  pass(600);
  made[1].onmessage({ data: '{"type":"state"}' });
  made[1].onmessage({ data: '{"type":"verdict"}' });
  made[0].onmessage({ data: '{"type":"late"}' });
  assert.deepEqual(said, ["up", "state", "down", "up", "state", "verdict"]);
  assert.equal(made.length, 2);
});

test("sockets that can not be opened are tried ever more seldom", (t) => {
  const { feed, made, said, pass } = line(t);
  made.refuse = true;
  feed.open();
  for (let n = 0; n < 60; n++) pass(1000);
  assert.ok(said.length >= 6 && said.length <= 20, `${said.length} tries in a minute`);
  made.refuse = false;
  pass(10_000);
  assert.equal(made.length, 1);
});

test("a closed feed stays closed until it is opened", (t) => {
  const { feed, made, said, pass } = line(t);
  feed.open();
  feed.close();
  pass(60_000);
  assert.deepEqual([made.length, said], [1, []]);
  feed.open();
  assert.equal(made.length, 2);
});
