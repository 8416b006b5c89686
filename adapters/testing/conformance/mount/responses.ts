import type { ApiResponse } from "../../../../src/api/index.ts";
import { holds, same } from "../checks.ts";
import { text, type Fixture, type MountChecks } from "./fixture.ts";
import { headOf, type RawAnswer } from "./raw-http.ts";

/** Mounts an engine that gives these responses in turn, and returns what a client gets. */
async function answersOf(
  fixture: Fixture,
  responses: readonly ApiResponse[],
): Promise<readonly RawAnswer[]> {
  const next = responses.values();
  const mounted = await fixture.mount(() => next.next().value ?? text("no more"));
  const answers: RawAnswer[] = [];
  while (answers.length < responses.length) answers.push(await mounted.ask());
  return answers;
}

const namesOf = (headers: object): string[] =>
  Object.keys(headers).map((name) => name.toLowerCase());

export const responseChecks: MountChecks = {
  "have the status, the headers and the text of the engine": {
    needs: [],
    async run(fixture) {
      const responses = [200, 201, 202, 400, 401, 404, 422, 429, 500, 503].map((status) => {
        const type = status < 400 ? "application/json" : "application/problem+json";
        const headers = { "Content-Type": type, "Request-Id": "req_1", "Retry-After": "7" };
        return { status, headers, body: '{"detail":"Grüße 👋"}' };
      });
      const answers = await answersOf(fixture, responses);
      for (const [index, { status, headers, body }] of responses.entries()) {
        const answer = answers[index];
        same(
          [answer?.status, ...namesOf(headers).map((name) => answer?.headers[name]), answer?.body],
          [status, ...Object.values(headers), body],
          "status, headers and body",
        );
      }
    },
  },
  "have the bytes of the engine": {
    needs: [],
    async run(fixture) {
      const body = Buffer.from("<<Grüße 👋>>").subarray(2, -2);
      const [answer] = await answersOf(fixture, [text(body)]);
      const type = answer?.headers["content-type"];
      same([type, answer?.body], ["text/plain", "Grüße 👋"], "content type and body");
    },
  },
  "have no body if the engine gives none": {
    needs: [],
    async run(fixture) {
      const statuses = [200, 204, 304];
      const answers = await answersOf(
        fixture,
        statuses.map((status) => ({ status, headers: { ETag: '"1"' }, body: null })),
      );
      same(
        answers.map(({ status, headers, body }) => [status, headers["etag"], body]),
        statuses.map((status) => [status, '"1"', ""]),
        "status, header and body of each response",
      );
    },
  },
  "to HEAD have the headers of GET, and no body": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount(() => text("Hello"));
      const client = mounted.connect(
        headOf({
          method: "HEAD",
          path: `${mounted.prefix}/v1/notes`,
          headers: [["Connection", "close"]],
        }),
      );
      await client.waitForClose();
      holds(
        /^HTTP\/1\.1 200 .*\r\ncontent-type: text\/plain\r\n.*\r\n\r\n$/is.test(client.text) &&
          !client.text.includes("Hello"),
        "status 200 with the content type text/plain, and nothing after the headers",
        client.text,
      );
      same((await mounted.request()).method, "HEAD", "the method that the engine sees");
    },
  },
};

export const pathChecks: MountChecks = {
  "of other APIs do not look like the engine's": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount(({ path }) => text(`engine at ${path}`));
      for (const path of ["", "/", "/v10/notes", "/v1x", "/v2", "/notes/v1/notes"]) {
        const { body } = await mounted.ask({ path: path === "" ? "?" : path });
        holds(!/^engine at \/v1(?:\/|$)/.test(body), `no path of the engine for ${path}`, body);
      }
    },
  },
  "of other APIs are left to the host": {
    needs: ["passes_on"],
    async run(fixture) {
      const mounted = await fixture.mount();
      for (const path of ["/", "/v10/notes", "/v1x", "/v2", "/notes/v1/notes"]) {
        await mounted.ask({ path });
      }
      same(
        mounted.requests.map(({ url }) => url),
        [],
        "the requests that the engine got",
      );
    },
  },
  "below a page all reach the page": {
    needs: [],
    async run(fixture) {
      const mounted = await fixture.mount(({ path }) => text(`page at ${path}`), "all");
      for (const path of ["/", "/app.js", "/api/threads", "/v1/notes"]) {
        same((await mounted.ask({ path })).body, `page at ${path}`, "the response of the page");
      }
    },
  },
};
