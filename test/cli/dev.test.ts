import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message, Page } from "../../adapters/entry.ts";
import { eventually } from "../support/eventually.ts";
import { listening } from "../support/listening.ts";
import { longTest } from "../support/runs.ts";
import { dev, finished, scratch, tidings } from "./tidings.ts";

test("`tidings dev` serves the API to this machine only, with the key that it prints, and shows what happens", async () => {
  const server = await dev(await scratch());
  const sent = await server.post("/messages", { to: "+15005550020", body: "Hello" });
  expect(sent.status).toBe(201);
  await server.printed(/message\.received +\+15005550020: You wrote: Hello/);
  expect((await fetch(`${server.url}/v1/openapi.json`)).status).toBe(200);
  expect((await fetch(`${server.url}/v1/messages`)).status).toBe(401);
  expect(server.errors()).toBe("");

  const listening = readFileSync("/proc/net/tcp", "utf8");
  const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, "0");
  expect(listening).toContain(`0100007F:${port} 00000000:0000 0A`);
  expect(listening).not.toContain(`00000000:${port} 00000000:0000 0A`);
});

test("`tidings dev` keeps its data and its key across restarts, and stops at Ctrl+C with status 0", async () => {
  const folder = await scratch();
  const first = await dev(folder);
  await first.post("/messages", { to: "+15005550001", body: "Remember me" });
  expect(await first.interrupt()).toBe(0);
  const second = await dev(folder);
  expect(second.key).toBe(first.key);
  const { data } = (await (await second.get("/messages")).json()) as Page<Message>;
  expect(data).toMatchObject([{ body: "Remember me" }]);
  const file = join(folder, "tidings.db.secrets.json");
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);

  // Ctrl+C in `tidings dev 2>&1 | tee log` ends `tee` too.
  second.stopReading();
  expect(await second.interrupt()).toBe(0);
  expect(readdirSync(folder), "the database is closed").toEqual([
    "tidings.db",
    "tidings.db.secrets.json",
  ]);
});

longTest("`tidings dev` makes a new key when the kept one is gone or was revoked", async () => {
  const folder = await scratch();
  const first = await dev(folder);
  await first.interrupt();
  const file = join(folder, "tidings.db.secrets.json");
  rmSync(file);
  const second = await dev(folder);
  expect(second.key).not.toBe(first.key);
  const { data } = (await (await second.get("/api-keys")).json()) as Page<{ id: string }>;
  await second.interrupt();
  expect((await finished(folder, "keys", "revoke", data[0]?.id ?? "")).status).toBe(0);
  const third = await dev(folder);
  expect([first.key, second.key]).not.toContain(third.key);
  expect((await third.get("/account")).status).toBe(200);
  await third.interrupt();
  writeFileSync(file, "{ not json");
  const { status, errors } = await finished(folder, "dev", "--port", "0");
  expect(status).toBe(1);
  expect(errors).toMatch(/secrets\.json cannot be read\.\n +Delete it/);
});

longTest("`tidings dev` says that the port is in use, by what, and which one to try", async () => {
  const folder = await scratch();
  const server = await dev(folder);
  const port = new URL(server.url).port;
  const empty = await scratch();
  const again = await finished(empty, "dev", "--port", port);
  expect(again.status).toBe(1);
  expect(again.errors).toBe(
    `Error: Port ${port} is in use by another tidings.\n  It is at http://localhost:${port}\n` +
      `  To use another port:  tidings dev --port ${Number(port) + 1}\n`,
  );
  expect(existsSync(join(empty, "tidings.db")), "no new file is left behind").toBe(false);

  const taken = await listening((_, response) => void response.end("hello"));
  const { errors } = await finished(empty, "dev", "--port", String(taken));
  expect(errors).toContain(`Port ${taken} is in use by another program.`);
});

test("`tidings dev` prints the token that signs in; its page loads only own files and runs no inline script", async () => {
  const server = await dev(await scratch());
  const { url } = server;
  const [, token = ""] = await server.printed(/Token +(\S{32}) /);
  await server.printed(new RegExp(`^ +${url}/console/#token=${token}$`, "m"));
  const page = await fetch(`${url}/`);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  const html = await page.text();
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style| style=| on\w+=/);
  const links = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(5);
  for (const link of new Set(links)) {
    const target = new URL(link, `${url}/`);
    expect(target.origin).toBe(url);
    expect((await fetch(target)).status, link).toBe(200);
  }
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  expect((await fetch(`${url}/../../package.json`)).status).toBe(404);
});

longTest(
  "Ctrl+C during the start ends it with status 0, and the file can be used again",
  async () => {
    const folder = await scratch();
    const run = tidings(folder, "dev", "--port", "0", "--seed");
    await eventually(() => expect(existsSync(join(folder, "tidings.db"))).toBe(true));
    expect(await run.interrupt()).toBe(0);
    expect((await dev(folder)).key).toMatch(/^tdg_test_/);
  },
);
