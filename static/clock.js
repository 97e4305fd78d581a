// The server's clock, measured: never the browser's, which may be minutes off and may jump.

// Clock estimates the server's time from round trips. Times are milliseconds; ticks come from a clock that only ever
// goes forward, as performance.now().
export class Clock {
  #ticks;
  #best = null;

  constructor(ticks = () => performance.now()) {
    this.#ticks = ticks;
  }

  // sample notes one round trip: ticks when it was sent and received, and the server's time in the answer. The true
  // offset is within half a round trip of the estimate, so the shortest trip knows best. A trip loses one millisecond
  // of its worth each second, because clocks drift and sleep.
  sample(sent, received, serverTime) {
    const trip = received - sent;
    const age = this.#best ? (received - this.#best.at) / 1000 : 0;
    if (this.#best && trip > this.#best.trip + age) return;
    this.#best = { trip, at: received, offset: serverTime - (sent + received) / 2 };
  }

  // doubt lets the next sample win whatever its trip: the ticks may have stood still while the machine slept.
  doubt() {
    if (this.#best) this.#best.trip = Infinity;
  }

  get known() {
    return this.#best !== null;
  }

  // now is the server's time, or NaN before the first sample.
  now() {
    return this.#best ? this.#ticks() + this.#best.offset : NaN;
  }
}

// countdown is the time left as parts for people: whole days, and hh:mm:ss. It shows 00:00:00 only when it is over.
export function countdown(left) {
  const seconds = Math.max(0, Math.ceil(left / 1000));
  const part = (n) => String(n).padStart(2, "0");
  return {
    days: Math.floor(seconds / 86400),
    clock: [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60].map(part).join(":"),
  };
}
