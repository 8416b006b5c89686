import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { sqlite } from "tidings/sqlite";
import { simulated } from "tidings/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("a transaction of the host application on its own handle", () => {
  let folder: string;
  let host: DatabaseSync;
  let engine: MessagingEngine;
  const { clock, random } = simulated();

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidings-"));
    const file = join(folder, "host.db");
    engine = new MessagingEngine({
      storage: sqlite({ file }),
      transports: [sandbox()],
      clock,
      random,
    });
    await engine.messages.list();
    host = new DatabaseSync(file);
    host.exec("CREATE TABLE orders (id TEXT PRIMARY KEY, message_id TEXT)");
  });

  afterEach(async () => {
    host.close();
    await engine.stop();
    rmSync(folder, { recursive: true });
  });

  it("commits the order and its message, or neither", async () => {
    for (const end of ["COMMIT", "ROLLBACK"] as const) {
      host.exec("BEGIN");
      const { id } = await engine.messages.send({ to: "+15005550001", body: end }, { tx: host });
      host.prepare("INSERT INTO orders VALUES (?, ?)").run(end, id);
      host.exec(end);
    }
    const { data } = await engine.messages.list();
    expect(data.map(({ body }) => body)).toEqual(["COMMIT"]);
    expect(host.prepare("SELECT count(*) AS orders FROM orders").get()).toEqual({ orders: 1 });
  });

  it("keeps nothing of a command that still runs when it is rolled back", async () => {
    for (let steps = 0; steps < 60; steps++) {
      host.exec("BEGIN");
      const sending = engine.messages
        .send({ to: "+15005550001", body: "late" }, { tx: host })
        .catch((error: unknown) => expect(error).toMatchObject({ code: "invalid_option" }));
      for (let i = 0; i < steps; i++) await Promise.resolve();
      host.exec("ROLLBACK");
      await sending;
    }
    expect((await engine.messages.list()).data).toEqual([]);
  });

  it("claims an idempotency key, and frees it when it is rolled back", async () => {
    const send = () =>
      engine.messages.send(
        { to: "+15005550001", body: "hi" },
        { tx: host, idempotencyKey: "order-1" },
      );
    host.exec("BEGIN");
    const lost = await send();
    host.exec("ROLLBACK");
    host.exec("BEGIN");
    const [first, second] = [await send(), await send()];
    host.exec("COMMIT");
    expect(first.id).not.toBe(lost.id);
    expect(second).toEqual(first);
    expect((await engine.messages.list()).data).toHaveLength(1);
  });

  it("has its messages sent by a started engine", async () => {
    await engine.start();
    host.exec("BEGIN");
    const { id } = await engine.messages.send({ to: "+15005550001", body: "hi" }, { tx: host });
    host.exec("COMMIT");
    await clock.advance(10_000);
    expect((await engine.messages.get(id)).status).toBe("delivered");
  });

  it("stays usable after a refused command", async () => {
    host.exec("BEGIN");
    host.prepare("INSERT INTO orders VALUES ('kept', NULL)").run();
    await expect(
      engine.messages.send({ to: "+15005550001", body: "hi", from: "+1999999999" }, { tx: host }),
    ).rejects.toMatchObject({
      code: "no_sender",
    });
    host.exec("COMMIT");
    expect(host.prepare("SELECT id FROM orders").all()).toHaveLength(1);
    expect((await engine.messages.list()).data).toEqual([]);
  });
});

it("a storage that cannot join a host transaction says so", async () => {
  await using engine = new MessagingEngine({
    storage: memory(),
    transports: [sandbox()],
    ...simulated(),
  });
  const refused = engine.messages.send({ to: "+15005550001", body: "hi" }, { tx: {} });
  await expect(refused).rejects.toMatchObject({ code: "invalid_option" });
});
