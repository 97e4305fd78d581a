// The rules of the line that a page has to know, without a page.

// ahead is how many are before a ticket: everybody between it and the head, but never more than there are.
export function ahead(seq, served, queued) {
  return Math.max(0, Math.min(seq - served, queued) - 1);
}

// phaseAt is an item's phase at a time of the server's clock: the phase the server said, moved on by the window.
export function phaseAt(item, now) {
  if (Number.isNaN(now)) return item.phase;
  if (item.ends && now >= item.ends) return "ended";
  if (item.phase === "upcoming" && now >= item.starts) return item.available > 0 ? "open" : "sold_out";
  return item.phase;
}

// backoff is a pause in milliseconds before try number n (0, 1, …): doubling to 10 s, at random from half of it on, so
// that a crowd does not come back as one.
export function backoff(n, random = Math.random) {
  const most = Math.min(10000, 500 * 2 ** n);
  return most / 2 + (most / 2) * random();
}

// retryAfter is the pause before try number n when the server asked for one in whole seconds, spread over another.
export function retryAfter(header, n, random = Math.random) {
  const seconds = Number.parseInt(header ?? "", 10);
  if (!(seconds >= 0)) return backoff(n, random);
  return Math.max(seconds * 1000 + 1000 * random(), backoff(n, random));
}
