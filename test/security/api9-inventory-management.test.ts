/** API9:2023. What answers is in the OpenAPI document, and what is in the document answers. */
import { afterAll, describe, expect, test } from "vitest";
import { nodeHandler } from "../../adapters/http/node.ts";
import { ask, type RawAnswer } from "../../adapters/testing/conformance/mount/raw-http.ts";
import { call, textOf } from "../api/call.ts";
import { serve } from "../api/servers.ts";
import { cases } from "../support/runs.ts";
import { openApi } from "./fields.ts";
import { newOwner } from "./owner.ts";
import { startedWorld } from "./world.ts";

const there = await startedWorld();
const own = await newOwner(there);
const running = await serve({ prefix: "", listener: nodeHandler }, there.engine);
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await there.stop();
});

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const documented = Object.entries(openApi.paths).map(([path, operations]) => ({
  path,
  own: Object.keys(operations).map((method) => method.toUpperCase()),
}));

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, "x");
const request = (method: string, path: string): Promise<RawAnswer> =>
  // Without a key, so that nothing is carried out. The router answers before.
  ask(running.port, { method, path });

/** One router reads the paths of all routes, so that `npm test` spells a third of them otherwise. */
const respelled = cases([...documented.keys()], (place) => place % 3 === 0);

describe.each(documented)("$path", ({ path, own: described }) => {
  const isRespelled = respelled.some((place) => documented[place]?.path === path);

  test("answers exactly its documented methods", async () => {
    for (const method of methods) {
      const { status, headers, body } = await request(method, filled(path));
      if (described.includes(method)) {
        expect([method, status]).toEqual([method, expect.toBeOneOf([200, 401, 404])]);
        expect(body).not.toContain("There is no endpoint");
      } else {
        expect([method, status]).toEqual([method, 405]);
        const head = described.includes("GET") ? ["HEAD"] : [];
        const allowed = (headers["allow"] ?? "").split(", ");
        expect(new Set(allowed)).toEqual(new Set([...described, ...head, "OPTIONS"]));
      }
    }
  });

  test.runIf(isRespelled)("answers under no other spelling, version or suffix", async () => {
    const at = filled(path);
    const others = [
      `${at}/`,
      at.replace("/v1/", "/v1//"),
      at.replace("/v1/", "/V1/"),
      at.replace("/v1/", "/v2/"),
      at.replace("/v1/", "/v0/"),
      at.replace("/v1/", "/"),
      at.replace("/v1/", "/v1/./"),
      at.replace("/v1/", "/v1/x/../"),
      at.replace("/v1/", "/v1%2f"),
      at.replace("/v1/", "/api/v1/"),
      at.replace(/\w/, (first) => `%${first.charCodeAt(0).toString(16)}`),
      at.toUpperCase(),
      `${at}/x/y/z`,
    ];
    for (const other of others) {
      for (const method of described) {
        const answer = await call(there.engine.api, { method, path: other });
        const { status } = answer;
        // Another path of the document, such as the resource `x` of a list, is inventory too.
        const isKnown = documented.some(({ path: known }) =>
          new RegExp(`^${known.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(other),
        );
        if (!isKnown) expect([other, status]).toEqual([other, 404]);
        else expect(textOf(answer)).not.toContain("There is no endpoint");
      }
    }
  });
});

test("nothing is left from development, and nothing is guessed", async () => {
  const guesses = ["", "admin", "debug", "metrics", "internal", "status", "docs", "swagger.json"];
  for (const guess of [...guesses, "openapi.yaml", "graphql", ".env", ".git/config", "v1/keys"]) {
    for (const base of ["/", "/v1/", "/v1/accounts/"]) {
      const { status, headers } = await ask(running.port, {
        path: `${base}${guess}`,
        headers: [["Authorization", `Bearer ${own.secret}`]],
      });
      expect([base, guess, status]).toEqual([base, guess, 404]);
      expect(headers["content-type"]).toBe("application/problem+json");
    }
  }
});

test("a method that HTTP does not define is refused on each path, and TRACE echoes nothing", async () => {
  for (const { path } of documented) {
    for (const method of ["TRACE", "PROPFIND", "PURGE"]) {
      const answer = await ask(running.port, {
        method,
        path: filled(path),
        headers: [["X-Secret", "hunter2"]],
      });
      expect([method, path, answer.status]).toEqual([method, path, 405]);
      expect(answer.body).not.toContain("hunter2");
    }
  }
});
