import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { nodeHandler } from "../../adapters/http/node.ts";
import { encodeEvent } from "../../src/api/responses/server-sent-events.ts";
import { call, jsonOf } from "./call.ts";
import { serve } from "./servers.ts";
import { storages, world } from "./world.ts";

interface Dispatched {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The event stream parser of WHATWG HTML, section 9.2.6. */
function dispatchedBy(text: string): Dispatched[] {
  const events: Dispatched[] = [];
  let id = "";
  let event = "";
  let data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === "") {
      if (data.length > 0) events.push({ id, event, data: data.join("\n") });
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return events;
}

const text = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom("a", "\n", "\r", "\r\n", ":", " ", "data: x", "\n\n", "id: 9"))
    .map((parts) => parts.join("")),
);

test("a client reads exactly the sent events, for all contents", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: text, event: text, data: text, comment: text, retry: fc.nat() })),
      (events) => {
        const plain = (value: string): string => value.replace(/[\r\n\0]/g, "");
        expect(dispatchedBy(events.map(encodeEvent).join(""))).toEqual(
          events.map(({ id, event, data }) => ({
            id: plain(id),
            event: plain(event),
            data: data.replace(/\r\n|\r/g, "\n"),
          })),
        );
      },
    ),
  );
});

test("a heartbeat dispatches no event", () => {
  expect(
    dispatchedBy(encodeEvent({ comment: "alive\nid: 7" }) + encodeEvent({ retry: 1000 })),
  ).toEqual([]);
});

test.each(storages)(
  "a stream on $name that resumes with Last-Event-ID yields each later event once, in order",
  async ({ make }) => {
    const { storage, remove } = await make();
    onTestFinished(remove);
    const there = world({}, storage);
    await using running = await serve({ prefix: "", listener: nodeHandler }, there.engine);
    const { secret: key } = await there.tenant("sandbox");
    const stranger = await there.tenant("sandbox");
    const send = async (body: string, by = key): Promise<void> => {
      const answer = await call(there.engine.api, {
        method: "POST",
        path: "/v1/sandbox/inbound",
        key: by,
        body: { from: "+15005550001", body },
      });
      expect(answer.status).toBe(201);
    };

    /** Reads events until `count` of them have come, and leaves. */
    const read = async (count: number, from: string | undefined): Promise<Dispatched[]> => {
      const left = new AbortController();
      const headers = {
        authorization: `Bearer ${key}`,
        ...(from === undefined ? {} : { "last-event-id": from }),
      };
      const response = await fetch(`${running.base}/v1/events/stream?types=message.received`, {
        headers,
        signal: left.signal,
      });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      let got = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ??
        expect.fail()) {
        got += chunk;
        if (dispatchedBy(got).length >= count) break;
      }
      left.abort();
      return dispatchedBy(got);
    };

    const first = read(2, undefined);
    // An open stream begins with new events.
    const opened = Promise.race([first, new Promise((resolve) => setImmediate(resolve))]);
    await opened;
    for (let sent = 0, over = false; !over; sent++) {
      await send(`early ${sent}`);
      await send("not yours", stranger.secret);
      over = await Promise.race([
        first.then(() => true),
        new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
      ]);
    }
    const early = await first;
    await send("while away 1");
    await send("while away 2");
    const listed = jsonOf(
      await call(there.engine.api, { path: "/v1/events?type=message.received&limit=100", key }),
    ) as {
      data: { id: string; data: { body: string } }[];
    };
    const all = listed.data.toReversed().map(({ id }) => id);
    const last = early[0]?.id ?? expect.fail("no event");
    const missed = all.slice(all.indexOf(last) + 1);
    const later = await read(missed.length, last);
    expect(later.map(({ id }) => id)).toEqual(missed);
    expect(later.map(({ event }) => event)).not.toContain("message.sent");
    expect(later.every(({ data }) => !data.includes("not yours"))).toBe(true);

    const path = "/v1/events/stream";
    for (const id of ["evt_01JZZZZZZZZZZZZZZZZZZZZZZZ", "x".repeat(201)]) {
      const inQuery = await call(there.engine.api, { path: `${path}?last_event_id=${id}`, key });
      expect(jsonOf(inQuery)).toMatchObject({
        status: 422,
        errors: [{ parameter: "last_event_id" }],
      });
      // The header is newer than the query.
      const headers = ["Last-Event-ID", id];
      for (const query of ["", `?last_event_id=${last}`]) {
        const inHeader = await call(there.engine.api, { path: path + query, key, headers });
        expect(jsonOf(inHeader)).toMatchObject({
          status: 422,
          errors: [{ header: "Last-Event-ID" }],
        });
      }
    }
    await there.engine.stop();
  },
);
