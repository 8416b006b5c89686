import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { cases, longTest } from "../support/runs.ts";
import { start, type Program } from "./program.ts";

interface Message {
  readonly id: string;
}

/** A client with the URL and the API key of the `curl` line that a program prints. */
async function client(program: Program) {
  const [, url = "", key = ""] = await program.printed(
    /curl (http:\S+\/v1\/messages) [^]*?Bearer (tdg_test_\w+)/,
  );
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const send = (body: object): Promise<Response> =>
    fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return {
    url,
    send,
    list: async (): Promise<unknown> => (await fetch(url, { headers })).json(),
    /** Sends a message. Resolves when the event stream reports that it is delivered. */
    async deliver(body: object): Promise<Message> {
      const stream = await fetch(url.replace(/messages$/, "events/stream?types=message.sent"), {
        headers,
      });
      const response = await send(body);
      expect(response.status).toBe(201);
      const message = (await response.json()) as Message;
      let received = "";
      for await (const chunk of stream.body ?? []) {
        received += Buffer.from(chunk).toString();
        if (received.includes(message.id)) return message;
      }
      throw new Error(`The stream ended before the message was delivered: ${received}`);
    },
  };
}

describe("the quickstart", () => {
  test("says that it compiles before it does", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
      scripts: { start: string };
    };
    expect(scripts.start).toMatch(/echo \\?"Compiling .* && npm run --silent compile/);
  });

  // It takes seconds, since the sandbox answers some messages late.
  longTest("with --once shows the result of each message and ends with status 0", async () => {
    await using program = start("examples/quickstart/main.ts", ["--once"]);
    expect(await program.ended(), program.output()).toBe(0);
    const output = program.output();
    expect(output).toMatch(/^ +0001 .* delivered .* ✓$/m);
    expect(output).toMatch(/^ +0003 .* undelivered: unreachable .* ✓$/m);
    expect(output).toMatch(/^ +0007 .* ✗ throttled ×2 {2}sent {2}delivered .* ✓$/m);
    expect(output).toMatch(/^ +0014 .* \? ambiguous {2}✗ not sent {2}sent {2}delivered .* ✓$/m);
    expect(output.match(/ ✓$/gm)).toHaveLength(10);
    expect(output).toContain("Idempotent-Replayed: true");
    const [, agent = ""] = output.split("Meanwhile, an agent answers a customer");
    expect(agent, "the agent answers, asks, acts and hands off").toMatch(
      new RegExp(
        [
          "open on Saturday\\?\n +agent +We are open .*Saturday from 10 to 16",
          "move my appointment\\?\n +agent +.*Which day would suit you\\?",
          "Next Friday\n +agent +Morning or afternoon\\?",
          "your code +book_appointment\\((\\S+), afternoon\\)\n +agent +Done: we see you on \\1, in the afternoon",
          "I want a refund\n +agent +I'm sorry .*\n +handed off",
        ].join("[^]*"),
      ),
    );
    expect(output.trimEnd().split("\n").at(-1)).toMatch(/^ Try next: npm start\./);
    expect(output, "piped output has no escape codes").not.toContain("\u001b");
    const [file = ""] = /\S+quickstart\.db/.exec(output) ?? [];
    expect(existsSync(file), "the database file is removed").toBe(false);
  });

  test("keeps serving, delivers what its curl line sends, and stops at Ctrl-C with status 0", async () => {
    await using program = start("examples/quickstart/main.ts");
    const { deliver } = await client(program);
    await deliver({ to: "+15005550020", body: "Hello" });
    await program.printed(/0020 Hello .*You wrote: Hello/);
    expect(await program.interrupt()).toBe(0);
  });

  longTest(
    "in a small terminal still shows at the end the addresses that open its pages",
    async () => {
      const terminal = { isTTY: true, columns: 80, rows: 24 };
      const preload = `data:text/javascript,Object.assign(process.stdout,${JSON.stringify(terminal)})`;
      await using program = start("examples/quickstart/main.ts", [], {
        NODE_OPTIONS: `--import ${preload}`,
        TERM: "xterm",
      });
      await program.printed(/handed off: the conversation waits/);
      const drawn = stripVTControlCharacters(program.output().split("\u001b[J").at(-1) ?? "");
      expect(drawn.trimEnd().split("\n").length).toBeLessThan(terminal.rows);
      expect(drawn).toMatch(/Phones +http:\S+\/console\/#token=\S{32}\n/);
      expect(drawn).toMatch(/Inbox +http:\S+\/inbox\/#token=\S{32}\n/);
      expect(drawn).toContain("curl http");
      expect(drawn.slice(drawn.indexOf("Phones"))).not.toContain("…");
      expect(drawn.trimEnd().split("\n").at(-1)).toMatch(/^ Try next: /);
      expect(await program.interrupt()).toBe(0);
    },
  );

  longTest("reports in one sentence that its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await using program = start("examples/quickstart/main.ts", [], { PORT: String(port) });
    expect(await program.ended()).toBe(1);
    expect(await program.errors()).toMatch(/^listen EADDRINUSE: .*\n$/);
  });
});

/** Other tests start the others. */
const mounted = cases(["express", "koa", "node"], (name) => name === "node");

describe.each(mounted)("the %s example", (name) => {
  test("delivers what is sent to the address that it prints, and stops at Ctrl-C", async () => {
    await using program = start(`examples/${name}/main.ts`);
    const { url, deliver } = await client(program);
    expect(new URL(url).pathname).toBe("/messaging/v1/messages");
    await deliver({ to: "+15005550001", body: "Hello" });
    expect(await program.interrupt()).toBe(0);
  });
});

test("the Express example's own route sends one message for an order that is reported twice", async () => {
  await using program = start("examples/express/main.ts");
  const { url, list } = await client(program);
  const report = async (): Promise<unknown> => {
    const response = await fetch(new URL("/orders/7/ready", url), { method: "POST" });
    expect(response.status).toBe(202);
    return response.json();
  };
  const first = await report();
  expect(await report()).toEqual(first);
  expect(await list()).toMatchObject({ data: [{ body: "Order 7 is ready." }], has_more: false });
});

longTest("the Koa example's own route answers beside the API", async () => {
  await using program = start("examples/koa/main.ts");
  const { url, send } = await client(program);
  await send({ to: "+15005550001", body: "Hello" });
  expect(await (await fetch(new URL("/", url))).json()).toMatchObject([{ to: "+15005550001" }]);
});

test("the embedded example prints the reply that it receives, and ends", async () => {
  await using program = start("examples/embed/main.ts");
  expect(await program.ended()).toBe(0);
  expect(program.output()).toBe("+15005550020: You wrote: Hello\n");
});
