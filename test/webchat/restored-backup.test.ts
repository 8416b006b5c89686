import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { shop, type Shop } from "./world.ts";

it("a browser that is ahead of a restored backup gets the messages that follow", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [file, backup] = [join(folder, "shop.db"), join(folder, "backup.db")];
  const before = await shop({}, { storage: sqlite({ file }) });
  const { id, contact_id } = await before.engine.webchat.open();
  const send = ({ engine }: Shop, body: string) =>
    engine.messages.send({ to: contact_id, channel: "webchat", body });
  const stream = await before.engine.webchat.stream(id);
  await send(before, "one");
  for await (const { message } of stream) if (message.body === "one") break;
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(`VACUUM INTO '${backup}'`);
  database.close();
  for (const body of ["two", "three"]) await send(before, body);

  const after = await shop({}, { storage: sqlite({ file: backup }) });
  const restored = await after.engine.webchat.stream(
    id,
    { last_event_id: "3" },
    { signal: AbortSignal.timeout(8_000) },
  );
  await send(after, "after the restore");
  let received: string | null = null;
  for await (const { message } of restored) {
    received = message.body;
    break;
  }
  expect(received).toBe("after the restore");
});
