import type { ApiRequest } from "../../../../src/api/index.ts";
import { holds, same } from "../checks.ts";
import {
  eventually,
  settled,
  text,
  type Client,
  type MountChecks,
  type Mounted,
} from "./fixture.ts";
import { headOf, parseAnswers } from "./raw-http.ts";

/** Requests that a client sends without waiting for responses. */
const pipelined = ({ prefix }: Mounted, count: number): string =>
  Array.from({ length: count }, (_, n) => headOf({ path: `${prefix}/v1/notes?${n}` })).join("");

const inOrder = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => String(n));

const bodies = (client: Client): readonly string[] =>
  parseAnswers(Buffer.from(client.text, "latin1")).map(({ body }) => body);

/** Large, so that the buffers of the operating system hold few responses. */
const large = "x".repeat(200_000);
const requests = 120;

export const connectionChecks: MountChecks = {
  "get the responses in the order of their requests": {
    needs: [],
    async run(fixture) {
      // The first response takes the longest.
      const mounted = await fixture.mount(async ({ query }) => {
        for (let i = Number(query); i < 5; i++) await new Promise((next) => setImmediate(next));
        return text(query);
      });
      const client = mounted.connect(pipelined(mounted, 5));
      await eventually(() => bodies(client).length === 5, "5 responses");
      same(bodies(client), inOrder(5), "the responses");
    },
  },
  "are served one request at a time, and none while the client reads no responses": {
    needs: ["pipelining"],
    async run(fixture) {
      let atOnce = 0;
      let now = 0;
      const mounted = await fixture.mount(async () => {
        atOnce = Math.max(atOnce, ++now);
        await new Promise((next) => setImmediate(next));
        now--;
        return text(large);
      });
      const client = mounted.connect();
      client.socket.pause();
      client.socket.write(pipelined(mounted, requests));
      await mounted.request();
      const handled = await settled(() => mounted.requests.length);
      holds(handled < requests, "requests that wait for the client to read", `${handled} handled`);
      same(atOnce, 1, "number of requests handled at a time");
      client.socket.resume();
      const size = requests * large.length;
      await eventually(() => client.socket.bytesRead > size, `${requests} responses`);
      same(
        mounted.requests.map(({ query }) => query),
        inOrder(requests),
        "the requests in the order in which they are handled",
      );
    },
  },
  "are served no further requests after they close": {
    needs: ["pipelining"],
    async run(fixture) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const mounted = await fixture.mount(async ({ query }: ApiRequest) => {
        if (query === "0") await promise;
        return text("ok");
      });
      const client = mounted.connect(pipelined(mounted, 10));
      const { signal } = await mounted.request();
      client.destroy();
      await eventually(() => signal.aborted, "an abort of the signal");
      resolve();
      await mounted.ask({ path: "/v1/notes?later" });
      same(
        mounted.requests.map(({ query }) => query),
        ["0", "later"],
        "the requests that the engine got",
      );
    },
  },
  "do not delay other connections": {
    needs: ["pipelining"],
    async run(fixture) {
      const mounted = await fixture.mount();
      mounted.connect(pipelined(mounted, 500));
      const other = mounted.connect(headOf({ path: `${mounted.prefix}/v1/notes?other` }));
      await other.waitFor("HTTP/1.1 200 ");
      const before = mounted.requests.findIndex(({ query }) => query === "other");
      holds(before < 400, "another connection's request before the 400th of the first", before);
    },
  },
  "that close deliver the whole response, though the request's body comes later": {
    needs: ["closing"],
    async run(fixture) {
      const mounted = await fixture.mount(() => text(large));
      const client = mounted.connect();
      client.socket.pause();
      const path = `${mounted.prefix}/v1/notes`;
      const headers = [
        ["Connection", "close"],
        ["Content-Length", "5"],
      ] as const;
      client.socket.write(headOf({ path, headers }));
      await mounted.request();
      await settled(() => client.socket.bytesRead);
      client.socket.write("false");
      client.socket.resume();
      await client.waitForClose();
      same(bodies(client)[0]?.length, large.length, "the length of the response");
    },
  },
};
