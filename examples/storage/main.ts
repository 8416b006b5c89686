/**
 * Sends a message with an engine whose storage is your own. Run it with `node
 * examples/storage/main.ts`.
 */
import { MessagingEngine } from "tidings";
import { sandbox } from "tidings/sandbox";
import { arrays, emptyDatabase } from "./arrays.ts";

const engine = new MessagingEngine({ storage: arrays(emptyDatabase()), transports: [sandbox()] });
engine.on("message.sent", async ({ data }, { account }) => {
  const { status, body } = await account.messages.get(data.message_id);
  console.log(`${status}: ${body}`);
  await engine.stop();
});
await engine.start();
await engine.messages.send({ to: "+15005550001", body: "Hello" });
