// A socket that comes back. After every connection the server says first what is, so nothing is missed by a gap.

import { backoff } from "./line.js";

// Feed connects to an address and hands over each message. When sockets can not be opened, it says so (onDown) and
// goes on trying; the page asks by itself meanwhile.
export class Feed {
  #url;
  #socket = null;
  #tries = 0;
  #timer = 0;

  constructor(url, { onMessage, onUp, onDown }) {
    this.#url = url;
    this.onMessage = onMessage;
    this.onUp = onUp;
    this.onDown = onDown;
  }

  // open connects now, unless a connection is there or under way.
  open() {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    let socket;
    try {
      socket = this.#socket = new WebSocket(this.#url);
    } catch {
      return this.#down(); // a browser that forbids sockets
    }
    socket.onmessage = (event) => {
      if (this.#socket !== socket) return;
      if (this.#tries >= 0) this.onUp();
      this.#tries = -1;
      this.onMessage(JSON.parse(event.data));
    };
    socket.onclose = () => this.#closed(socket);
  }

  #closed(socket) {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#down();
  }

  #down() {
    this.#tries++;
    this.onDown();
    this.#timer = setTimeout(() => this.open(), backoff(this.#tries));
  }

  // close ends it until the next open: a page that is put aside must not hold a socket.
  close() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
