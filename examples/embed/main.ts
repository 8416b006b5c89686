/** Uses the engine inside a program, without HTTP. Run it with `node examples/embed/main.ts`. */
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
engine.on("message.received", async ({ data }) => {
  console.log(`${data.contact.phone}: ${data.body}`);
  await engine.stop();
});
await engine.start();
// In the sandbox, a bot behind this number answers every message.
await engine.messages.send({ to: "+15005550020", body: "Hello" });
