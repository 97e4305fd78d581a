// A sale's page, live: the countdown by the server's clock, the click, the place in line, the verdict. Without it the
// page works by forms and reloads; with it nothing has to be touched.

import { Clock, countdown } from "./clock.js";
import { ahead, backoff, phaseAt, retryAfter } from "./line.js";
import { Feed } from "./socket.js";
import { pageText } from "./texts.js";

const text = pageText();
const clock = new Clock();
const data = document.getElementById("sale").dataset;
const find = (id) => document.getElementById(id);
const own = "ownTicket" in data;

const item = {
  id: data.item, phase: data.phase, available: Number(data.available), stock: find("stock").max,
  starts: Date.parse(data.starts), ends: data.ends ? Date.parse(data.ends) : 0,
};
let ticket = data.ticket ? {
  ticket: data.ticket, status: data.status, ahead: Number(data.ahead), seq: Number(data.seq),
  epoch: Number(data.epoch), quantity: Number(data.quantity),
} : null;
let order = data.order ? { no: data.order, status: data.orderStatus } : null;
let buying = false;
let said = ""; // what the last click came to, while there is no ticket to speak of
const marks = new Set(); // see first
let again = false; // the place was lost and taken anew
let up = false; // the socket is there
let tick = 0, ask = 0, speak = 0, spoken = "", spokenAt = -Infinity;

// ---- what is shown

const holding = () => order !== null && order.status !== "cancelled";
const status = () => ticket?.status ?? (order ? "won" : "");

// says is the key of the sentence; the server's page uses the same rule.
function says(phase) {
  const now = status();
  if (holding() && now !== "duplicate") return "live.won";
  if (now === "won" && order) return "live.cancelled";
  if (now === "queued" && ticket.ahead === 0) return "live.next";
  if (now !== "") return "live." + now;
  if (!("known" in data)) return "live.unknown_buyer";
  return "live.phase." + phase;
}

function show() {
  const phase = phaseAt(item, clock.now());
  Object.assign(data, {
    phase, status: status(), ticket: ticket?.ticket ?? "", order: order?.no ?? "",
    ahead: ticket?.ahead ?? 0, available: item.available,
  });
  const badge = find("phase");
  badge.dataset.phase = phase;
  set(badge, text("phase." + phase));
  set(find("available"), text("live.left", item.available));
  find("stock").max = item.stock;
  find("stock").value = item.available;
  find("buy").disabled = buying || phase !== "open" || !("known" in data) || holding() || status() === "queued";
  link("order-link", order && "/orders/" + order.no);
  link("ticket-link", !own && ticket && "/tickets/" + ticket.ticket);
  say(said || (again && status() !== "lost" ? text("live.rejoined") + " " : "") + text(says(phase), ticket?.ahead ?? 0),
    said || says(phase));
  count(phase);
}

function set(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

function link(id, href) {
  find(id).hidden = !href;
  if (href) find(id).href = href;
}

// say changes the sentence at once when it is another one, and at most once a second when only its number moves:
// a screen reader speaks every change.
function say(words, key) {
  clearTimeout(speak);
  const wait = key === spoken ? spokenAt + 1000 - performance.now() : 0;
  const now = () => {
    spoken = key;
    spokenAt = performance.now();
    set(find("status"), words);
  };
  if (wait > 0) speak = setTimeout(now, wait);
  else now();
}

// count shows the time to the start or the end, and wakes the page at the very moment.
function count(phase) {
  clearTimeout(tick);
  const to = phase === "upcoming" ? item.starts : phase === "ended" ? 0 : item.ends;
  set(find("countdown-label"), to ? text(phase === "upcoming" ? "live.starts_in" : "live.ends_in") : "");
  if (!to) return set(find("countdown"), "");
  if (!clock.known) return;
  const left = to - clock.now();
  const { days, clock: hours } = countdown(left);
  set(find("countdown"), (days ? text("live.days", days) + " " : "") + hours);
  tick = setTimeout(show, left > 1000 ? left % 1000 || 1000 : Math.max(1, left));
}

// ---- what is asked

async function call(path, options = {}) {
  const sent = performance.now();
  const answer = await fetch("/api/v1" + path, { cache: "no-store", signal: AbortSignal.timeout(10000), ...options });
  const body = await answer.json();
  return { answer, body, sent, received: performance.now() };
}

// measure takes a few round trips of the item's own call, so that its news comes with the time.
async function measure(trips) {
  for (let n = 0; n < trips; n++) {
    try {
      const { answer, body, sent, received } = await call("/items/" + item.id);
      if (answer.ok) {
        clock.sample(sent, received, Date.parse(body.server_time));
        take(body);
      }
    } catch {
      // The next round measures again; the socket says when the server is back.
    }
    if (n + 1 < trips) await pause(150);
  }
  show();
}

// look asks what became of the ticket.
async function look() {
  const asked = ticket?.ticket;
  if (!asked) return;
  try {
    const { answer, body } = await call("/tickets/" + asked);
    if (answer.ok && ticket?.ticket === asked) adopt(body);
  } catch {
    // Asked again by the watch below.
  }
}

// watch asks while no socket does it: often for a waiting ticket, seldom for the rest.
async function watch() {
  clearTimeout(ask);
  ask = setTimeout(watch, 1500 + Math.random() * 3000);
  if (up || document.hidden) return;
  if (status() === "queued") await look();
  else await measure(1);
}

// ---- the click

async function buy(quantity) {
  if (buying) return;
  buying = true;
  said = text("live.joining");
  show();
  for (let n = 0; buying; n++) {
    const wait = await click(quantity, n).catch(() => {
      said = text("live.trying");
      return backoff(n);
    });
    if (wait === null) break;
    show();
    await pause(wait);
  }
  buying = false;
  show();
}

// click is one try; null when it is answered, else the pause before the next.
async function click(quantity, n) {
  const { answer, body } = await call(`/items/${item.id}/buy`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ quantity }),
  });
  if (answer.status === 202) {
    said = "";
    adopt(body, true);
    tabs.postMessage(body);
    return null;
  }
  if (body.code === "not_started" && item.starts - clock.now() < 2000) {
    return Math.max(20, item.starts - clock.now()) + 50 * n;
  }
  said = text(`live.refused.${body.code}`);
  if (answer.status === 503 || answer.status === 429) return retryAfter(answer.headers.get("Retry-After"), n);
  if (answer.status >= 500 && n < 3) return backoff(n);
  if (body.code === "already_bought") {
    said = "";
    order = body.order;
  }
  await measure(1);
  return null;
}

// ---- what is heard

function take(news) {
  if (!buying && (news.phase !== item.phase || news.available > item.available)) said = "";
  Object.assign(item, {
    phase: news.phase, available: news.available, stock: news.stock,
    starts: Date.parse(news.starts_at), ends: news.ends_at ? Date.parse(news.ends_at) : 0,
  });
}

// adopt takes a ticket over. A page of one ticket knows no other, but the one that it took in its place.
function adopt(news, replace = false) {
  if (own && !replace && ticket && news.ticket !== ticket.ticket) return;
  if (ticket && !newer(news, ticket)) return;
  ticket = news;
  if (news.order) order = news.order;
  if (news.status !== "queued") said = "";
  if (replace && own) history.replaceState(null, "", "/tickets/" + news.ticket);
  show();
  if (news.status === "lost") rejoin();
}

// newer reports whether a ticket says more than another: a later one, or the same with its verdict.
function newer(news, old) {
  if (news.epoch !== old.epoch) return news.epoch > old.epoch;
  if (news.seq !== old.seq) return news.seq > old.seq;
  return news.status !== "queued" || old.status === "queued";
}

// first reports whether no page of this browser has asked for the mark before. A browser that keeps nothing counts
// within this page.
function first(mark) {
  try {
    if (localStorage.getItem(mark)) return false;
    localStorage.setItem(mark, "1");
  } catch {
    if (marks.has(mark)) return false;
  }
  marks.add(mark);
  return true;
}

// rejoin takes a new place for a lost one: once for each, whatever is reloaded, and never beside another tab.
function rejoin() {
  if (holding() || !first("rejoined " + ticket.ticket)) return;
  again = true;
  buy(ticket.quantity);
}

const heard = {
  state(m) {
    take(m.item);
    if (m.order) order = m.order;
    if (m.ticket) adopt(m.ticket);
    if (ticket && ticket.ticket !== m.ticket?.ticket && status() === "queued") look();
    heard.progress({ ...m, available: m.item.available });
  },
  progress(m) {
    item.available = m.available;
    if (status() === "queued") {
      if (m.epoch === ticket.epoch) ticket.ahead = ahead(ticket.seq, m.served, m.queued);
      if (m.epoch !== ticket.epoch || m.served >= ticket.seq) later();
    }
    show();
  },
  item(m) {
    take(m.item);
    show();
  },
  verdict(m) {
    adopt(m.ticket);
  },
  order(m) {
    if (!order || order.no === m.order.no || order.status === "cancelled") order = m.order;
    show();
  },
};

// later asks for a verdict that should have been heard by now.
let overdue = 0;
function later() {
  overdue ||= setTimeout(() => {
    overdue = 0;
    if (status() === "queued") look();
  }, 1000 + Math.random() * 1000);
}

// ---- from here to there

const feed = new Feed(`${location.origin.replace(/^http/, "ws")}/api/v1/ws?item=${item.id}`, {
  onMessage: (m) => heard[m.type]?.(m),
  onUp: () => (up = true),
  onDown: () => (up = false),
});

// The other tabs of this sale hear of a click at once; its verdict they hear by themselves.
const tabs = new BroadcastChannel("sale " + item.id);
tabs.onmessage = (event) => adopt(event.data);

function wake() {
  clock.doubt();
  feed.open();
  measure(3);
}

function start() {
  find("buy-form").addEventListener("submit", (event) => {
    event.preventDefault();
    again = false;
    if (!find("buy").disabled) buy(Number(find("quantity")?.value ?? 1));
  });
  addEventListener("pagehide", () => feed.close());
  addEventListener("pageshow", (event) => event.persisted && wake());
  addEventListener("online", () => feed.open());
  document.addEventListener("visibilitychange", () => !document.hidden && wake());
  setInterval(() => !document.hidden && measure(1), 60000);
  wake();
  watch();
  show();
  if (status() === "lost") rejoin();
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

start();
