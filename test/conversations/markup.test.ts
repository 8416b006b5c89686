import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import type { LogLine } from "../support/engines/world.ts";
import { shop } from "../webchat/world.ts";

/** Markup, a header, terminal escapes, JavaScript line separators and right-to-left text. */
const nasty = `<script>alert("x")</script> &amp; '\r\nSet-Cookie: a=b\r\n\r\n\u001b]0;owned\u0007\u009b31m \u2028\u2029 \u202egnp.exe \u{1F600}`;

test("names and texts are returned unchanged and never reach a header or log line", async () => {
  const log: LogLine[] = [];
  const at =
    (level: LogLine["level"]) =>
    (facts: object, message: string): void =>
      void log.push({ level, facts, message });
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const sentiment = {
    score: (text: string): number => {
      throw new Error(text);
    },
  };
  const line = carrier();
  const there = await shop({ logger, sentiment, transports: [line] }, { storage: memory() });
  const { secret } = await there.engine.apiKeys.create({ name: "key" });
  const seen: Response[] = [];
  const ask = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`${there.base}${path}`, init);
    seen.push(answer.clone());
    return (await answer.json()) as Record<string, unknown>;
  };

  const phone = "+15005551001";
  const attributes = { page: nasty };
  const contact = await ask("POST", "/v1/contacts", { phone, name: nasty, attributes });
  expect(contact).toMatchObject({ name: nasty, attributes });
  const inbound = await ask("POST", "/v1/sandbox/inbound", { from: phone, body: nasty });
  expect(inbound["body"]).toBe(nasty);
  const id = String(inbound["conversation_id"]);
  const own = `/v1/conversations/${id}`;
  const metadata = { [nasty.slice(0, 60)]: nasty };
  expect(await ask("PATCH", own, { metadata })).toMatchObject({
    metadata,
    contact: { name: nasty },
  });
  expect(await ask("POST", `${own}/notes`, { body: nasty, author_id: nasty })).toMatchObject({
    body: nasty,
    author: { id: nasty },
  });
  expect(await ask("PUT", `${own}/labels`, { labels: [nasty.slice(0, 60)] })).toMatchObject({
    labels: [nasty.slice(0, 60)],
  });
  expect(await ask("POST", `${own}/messages`, { body: nasty, author_id: nasty })).toMatchObject({
    body: nasty,
  });
  expect(
    await ask("POST", `${own}/handoff`, { reason: nasty.slice(0, 60), summary: nasty }),
  ).toMatchObject({
    handler: "queue",
  });
  const query = encodeURIComponent(nasty);
  for (const path of [
    `/v1/conversations?label=${query}`,
    `/v1/contacts/search?q=${query}`,
    `${own}/${query}`,
  ]) {
    await ask("GET", path);
  }
  expect(await ask("GET", `${own}/messages`)).toMatchObject({
    data: [{ body: nasty }, { body: nasty }],
  });
  expect(JSON.stringify(await ask("GET", "/v1/events?type=message.received"))).toContain(
    JSON.stringify(nasty),
  );

  for (const { headers } of seen) {
    expect(headers.get("set-cookie")).toBeNull();
    expect([...headers.values()].join()).not.toMatch(/script|owned|exe/);
  }
  await expect
    .poll(() => log.map(({ message }) => message))
    .toContain("a message could not be scored");
  for (const { message } of log) expect(message).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.stringify(log)).not.toMatch(/script|owned|exe/);
  await expect.poll(() => line.calls.map(({ message }) => message.body)).toEqual([nasty]);
});
