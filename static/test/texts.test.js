import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { reader } from "../texts.js";

test("texts take the form of the count, and fill their places", () => {
  const text = reader({
    line: { one: "{{.Count}} buyer", other: "{{.Count}} buyers" },
    plain: { other: "Hello {{ .Name }}{{.Missing}}" },
  }, "en");
  assert.equal(text("line", 1), "1 buyer");
  assert.equal(text("line", 1200), "1,200 buyers");
  assert.equal(text("plain", 0, { Name: "you" }), "Hello you");
  assert.equal(text("nowhere"), "nowhere");
});

test("every text for scripts has only places that scripts fill", () => {
  const all = JSON.parse(readFileSync(new URL("../../templates/messages/en.json", import.meta.url)));
  for (const [key, value] of Object.entries(all).filter(([key]) => key.startsWith("live."))) {
    const forms = typeof value === "string" ? { other: value } : value;
    assert.doesNotMatch(reader({ [key]: forms }, "en")(key, 2), /[{}]/, key);
  }
});
