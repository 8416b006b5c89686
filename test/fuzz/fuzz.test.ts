import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../security/examples.ts";
import { isLong } from "../support/runs.ts";
import { areaNames } from "./area.ts";
import { checkAnswer } from "./document.ts";
import { fuzz } from "./fuzz.ts";
import { mutated } from "./json.ts";
import { answersIn, bytesOf } from "./wire.ts";

describe("the engine", () => {
  it("answers as documented, logs no error and ends its work, whatever the outside sends", async () => {
    const { failure, tried } = await fuzz({ seed: 7, cases: isLong ? 7 : 1 });
    expect(failure).toBeUndefined();
    expect([...tried.keys()]).toEqual(areaNames);
  });
});

describe("the fuzzer", () => {
  it("says how to use it", () => {
    const help = execFileSync(process.execPath, ["test/fuzz/main.ts", "--help"], {
      encoding: "utf8",
    });
    expect(help).toMatch(/^usage: npm run fuzz -- .*--area http\|.*\n$/);
  });

  const route = allRoutes.find(({ operation }) => operation.name === "account.get");
  const headers = {
    "request-id": "req_01JZ0000000000000000000000",
    "content-type": "application/json",
  };
  const problem = { ...headers, "content-type": "application/problem+json" };

  it.each([
    ["a server error", "a server error", { status: 500, headers: problem, body: "{}" }],
    ["an error that is no problem", "no problem document", { status: 404, headers, body: "{}" }],
    [
      "a problem without its fields",
      "not as documented",
      { status: 404, headers: problem, body: "{}" },
    ],
    ["a response without its fields", "not as documented", { status: 200, headers, body: "{}" }],
    ["half a response", "not JSON", { status: 200, headers, body: "{" }],
    ["another status", "a status that", { status: 201, headers, body: "{}" }],
    [
      "another type",
      "a content type that",
      { status: 200, headers: { ...headers, "content-type": "text/html" }, body: "" },
    ],
    ["no request id", "no request id", { status: 204, headers: {}, body: "" }],
  ])("notices %s", (_, message, answer) => {
    expect(() => checkAnswer(answer, route)).toThrow(message);
  });

  it("changes one place of a value, and never a prototype", () => {
    const value = { a: [1, { b: 2 }] };
    const change = { place: 1, name: "__proto__", value: { x: 1 } } as const;
    expect(mutated(value, { ...change, kind: "remove" })).toEqual({ a: [{ b: 2 }] });
    expect(mutated(value, { ...change, kind: "replace" })).toEqual({ a: [{ x: 1 }, { b: 2 }] });
    const added = mutated(value, { ...change, place: 0, kind: "add" });
    expect(JSON.stringify(added)).toBe('{"a":[1,{"b":2}],"__proto__":{"x":1}}');
    expect(value).toEqual({ a: [1, { b: 2 }] });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("writes the framing that it names, and reads pipelined responses", () => {
    const request = { method: "POST", target: "/", version: "HTTP/1.1", headers: [] } as const;
    const body = Buffer.from("abcde");
    const chunks = { kind: "chunked", sizes: [2], extra: "" } as const;
    expect(bytesOf({ ...request, body, framing: chunks }).toString()).toBe(
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n",
    );
    const received = Buffer.from(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" +
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    );
    expect(answersIn(received, ["HEAD", "GET"]).map((answer) => answer.body)).toEqual(["", "ok"]);
  });
});
