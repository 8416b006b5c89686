/** What a transport gets of a callback, and what it answers, over every mount. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { CallbackRequest, CallbackResponse, Transport } from "../../src/ports/transport.ts";
import { mountings, serve, type Running } from "./servers.ts";
import { world } from "./world.ts";

/** A carrier that chooses what it is answered. */
let answer: CallbackResponse;
let asked: CallbackRequest | undefined;
const carrier: Transport = {
  ...sandbox(),
  name: "carrier",
  parseCallback(request) {
    asked = request;
    return Promise.resolve({ receipts: [], inbound: [], response: answer });
  },
};
const there = world({}, undefined, { transports: [sandbox(), carrier] });
afterAll(() => there.engine.stop());

describe.each(mountings)("over $name", ({ listener, prefix }) => {
  let running: Running;
  beforeAll(async () => {
    running = await serve({ listener, prefix }, there.engine);
  });
  afterAll(() => running[Symbol.asyncDispose]());

  test("the request arrives as the carrier signed it", async () => {
    answer = { status: 200, body: "" };
    const url = `${running.base}/v1/transports/carrier/callbacks?a=1&b=%20`;
    await fetch(url, { method: "POST", headers: { "X-Signature": "abc" }, body: "from=Zoë" });
    expect(asked).toMatchObject({
      method: "POST",
      url: new URL(url).pathname + new URL(url).search,
      headers: { "x-signature": "abc" },
    });
    expect(Buffer.from(asked?.body ?? []).toString()).toBe("from=Zoë");
  });

  test.each([
    { status: 200, text: "OK" },
    { status: 200, text: "" },
    { status: 204, text: "" },
    { status: 204, text: "a text that no response with this status has" },
    { status: 205, text: "" },
    { status: 304, text: "" },
  ])(
    "a response with the status $status and the body '$text' arrives",
    async ({ status, text }) => {
      answer = { status, body: text };
      for (let i = 0; i < 2; i++) {
        const url = `${running.base}/v1/transports/carrier/callbacks`;
        const response = await fetch(url, { method: "POST" });
        expect([response.status, await response.text()]).toEqual([
          status,
          status === 200 ? text : "",
        ]);
        if (status === 204) expect(response.headers.get("content-length")).toBeNull();
      }
      expect(there.errors).toEqual([]);
    },
  );
});
