import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { dev, finished, scratch, tidings } from "./tidings.ts";

test("a key that is created beside a running server works at once, until it is revoked", async () => {
  const folder = await scratch();
  const server = await dev(folder);
  const created = await finished(
    folder,
    "keys",
    "create",
    "--name",
    "CI",
    "--scope",
    "messages:read",
  );
  expect(created.status).toBe(0);
  expect(created.output, "the output is the secret alone").toMatch(/^tdg_test_\w+\n$/);
  const headers = { authorization: `Bearer ${created.output.trim()}` };
  const status = async (path: string): Promise<number> =>
    (await fetch(`${server.url}/v1${path}`, { headers })).status;
  expect(await status("/messages")).toBe(200);
  expect(await status("/contacts")).toBe(403);

  const blank = await finished(folder, "keys", "create", "--name", " ");
  expect(blank).toMatchObject({ status: 2, errors: "Error: name: must not be blank\n" });

  const [id = ""] = /key_\w+/.exec(created.errors) ?? [];
  const list = await finished(folder, "keys", "list");
  expect(list.output).toMatch(/^ID +NAME +SECRET +CREATED +LAST USED +SCOPES$/m);
  expect(list.output).toMatch(new RegExp(`^${id} +CI +….{4} .* messages:read$`, "m"));
  expect(list.output).toMatch(/tidings dev +….{4} .* all scopes$/m);

  expect((await finished(folder, "keys", "revoke", id)).status).toBe(0);
  await eventually(async () => expect(await status("/messages")).toBe(401));
});

longTest("a revoked key is listed as revoked, and a key that does not exist is told", async () => {
  const folder = await scratch();
  await finished(folder, "migrate");
  const created = await finished(folder, "keys", "create", "--name", "CI");
  const [id = ""] = /key_\w+/.exec(created.errors) ?? [];
  expect((await finished(folder, "keys", "revoke", id)).status).toBe(0);
  expect((await finished(folder, "keys", "list")).output).toMatch(/ CI .* revoked$/m);
  const again = await finished(folder, "keys", "revoke", "key_01JSAMP1E00000000000000000");
  expect(again.status).toBe(1);
  expect(again.errors).toMatch(/^Error: There is no key key_01\w+ in this account and mode\.\n/);
});

test("events that another process commits are printed, filtered, and as JSON for programs", async () => {
  const folder = await scratch();
  const server = await dev(folder);
  const all = tidings(folder, "events", "tail");
  const received = tidings(folder, "events", "tail", "--type", "message.received", "--json");
  await Promise.all([all.printed(/Waiting/), received.printed(/Waiting/)]);
  await server.post("/messages", { to: "+15005550020", body: "Hello" });
  await all.printed(/^\d\d:\d\d:\d\d +message\.sent +delivered to \+15005550020$/m);
  await server.post("/messages", { to: "+15005550004", body: "Hello" });
  await all.printed(/ message\.failed +undelivered to \+15005550004: filtered, msg_\w{26}$/m);
  const [line = ""] = await received.printed(/^\{.*\}$/m);
  expect(JSON.parse(line)).toMatchObject({
    type: "message.received",
    data: { body: "You wrote: Hello" },
  });
  expect(await all.interrupt()).toBe(0);
  expect(await received.interrupt()).toBe(0);
  expect(received.output().trim().split("\n")).toHaveLength(1);
});

/**
 * A port at which nothing listens. No other program is given it meanwhile, since operating systems
 * give ports from 32,768 on to those that take any.
 */
async function freePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

test("events are forwarded with signatures that a receiver can verify, also to one that starts later", async () => {
  const folder = await scratch();
  const server = await dev(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hooks`;
  const listen = tidings(folder, "webhooks", "listen", "--forward-to", url);
  const [, secret = ""] = await listen.printed(/Secret: +(whsec_\S+)/);
  await server.post("/contacts", { name: "Kim", phone: "+12065550101" });
  const [waiting] = await listen.printed(/Nothing listens|contact\.created.*/);
  expect(waiting).toBe("Nothing listens");

  const bodies: unknown[] = [];
  const late = createServer((request, response) => {
    void text(request).then((body) => {
      const headers = request.headers as Record<string, string>;
      try {
        bodies.push(new Webhook(secret).verify(body, headers));
        response.writeHead(202).end();
      } catch {
        response.writeHead(401).end();
      }
    });
  }).listen(port, "127.0.0.1");
  onTestFinished(() => void late.close());
  const [line] = await listen.printed(/contact\.created.*\n/);
  expect(line).toMatch(/ Kim +202 /);
  expect(bodies).toMatchObject([{ type: "contact.created", data: { contact: { name: "Kim" } } }]);
  expect(await listen.interrupt()).toBe(0);

  const again = tidings(folder, "webhooks", "listen", "--forward-to", url);
  expect((await again.printed(/Secret: +(whsec_\S+)/))[1], "it stays the same").toBe(secret);
});
