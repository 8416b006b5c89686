import type { ApiResponse } from "../../../../src/api/index.ts";
import { holds, Mismatch, same } from "../checks.ts";
import {
  eventually,
  settled,
  type Client,
  type Fixture,
  type Handle,
  type MountChecks,
  type Mounted,
} from "./fixture.ts";
import { headOf } from "./raw-http.ts";

const streaming = (body: AsyncIterable<string>, rest: Partial<ApiResponse> = {}): ApiResponse => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream" },
  body,
  ...rest,
});

/** Mounts an engine and opens its stream. */
async function open(fixture: Fixture, handle: Handle): Promise<readonly [Client, Mounted]> {
  const mounted = await fixture.mount(handle);
  return [mounted.connect(headOf({ path: `${mounted.prefix}/v1/events/stream` })), mounted];
}

const event = "data: x\n\n";
const lastChunk = "\r\n0\r\n\r\n";
/** Large, so that the buffers of the operating system hold few of them. */
const large = `data: ${"x".repeat(10_000)}\n\n`;
/** More than the buffers on both ends of a connection take, in large events. */
const maxBuffered = 2_000;

export const streamChecks: MountChecks = {
  "send their headers and each chunk at once": {
    needs: [],
    async run(fixture) {
      const gates = [1, 2].map(() => Promise.withResolvers<void>());
      async function* chunks(): AsyncGenerator<string, void> {
        for (const [index, gate] of gates.entries()) {
          await gate.promise;
          yield `data: ${index}\n\n`;
        }
      }
      const [client] = await open(fixture, () => streaming(chunks()));
      await client.waitFor("text/event-stream");
      for (const [index, gate] of gates.entries()) {
        holds(!client.text.includes(`data: ${index}`), "no chunk before its time", client.text);
        gate.resolve();
        await client.waitFor(`data: ${index}\n\n`);
      }
      await client.waitFor(lastChunk);
    },
  },
  "wait for a client that reads slowly": {
    needs: [],
    async run(fixture) {
      let pulled = 0;
      async function* chunks(): AsyncGenerator<string, void> {
        for (;;) {
          pulled++;
          await new Promise((resolve) => setImmediate(resolve));
          yield large;
          if (pulled > 2 * maxBuffered) return;
        }
      }
      const [client] = await open(fixture, () => streaming(chunks()));
      client.socket.once("data", () => client.socket.pause());
      await eventually(() => pulled > 0, "a stream that is read");
      await settled(() => pulled);
      holds(pulled < maxBuffered, `fewer than ${maxBuffered} chunks of 10 kB`, pulled);
    },
  },
  "end when the client leaves": {
    needs: [],
    async run(fixture) {
      for (const kind of ["waiting", "busy"]) {
        let isOver = false;
        async function* chunks(signal: AbortSignal): AsyncGenerator<string, void> {
          try {
            yield event;
            if (kind === "waiting") {
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
            }
            while (kind === "busy") {
              await new Promise((resolve) => setImmediate(resolve));
              yield event;
            }
          } finally {
            isOver = true;
          }
        }
        const [client] = await open(fixture, ({ signal }) => streaming(chunks(signal)));
        await client.waitFor(event);
        same(isOver, false, "whether the stream has ended while the client reads");
        client.destroy();
        await eventually(() => isOver, `the end of a ${kind} stream`);
      }
    },
  },
  "that fail close the connection without a final chunk": {
    needs: [],
    async run(fixture) {
      async function* chunks(): AsyncGenerator<string, void> {
        yield event;
        await Promise.reject(new Error("The stream failed."));
      }
      const [client, mounted] = await open(fixture, () => streaming(chunks()));
      await client.waitForClose();
      if (client.text.endsWith(lastChunk)) {
        throw new Mismatch("a response that is visibly incomplete", "a final chunk");
      }
      same(mounted.requests.length, 1, "number of requests");
    },
  },
  "close the connection when `cutOff` aborts": {
    needs: [],
    async run(fixture) {
      const cutOff = new AbortController();
      async function* chunks(signal: AbortSignal): AsyncGenerator<string, void> {
        yield event;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      const [client] = await open(fixture, ({ signal }) =>
        streaming(chunks(signal), { cutOff: cutOff.signal }),
      );
      await client.waitFor(event);
      cutOff.abort();
      await client.waitForClose();
    },
  },
};
