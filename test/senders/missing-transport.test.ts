/** Senders whose transport an engine does not have, for example in a process that only stores messages. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { carrier } from "../support/carrier.ts";
import { world } from "../support/world.ts";

const address = "+15550000001";

it.each([{ from: address, reason: "requested" }, { reason: "default" }])(
  "the error for the $reason sender names the transport that the engine lacks",
  async ({ from }) => {
    const { engine } = world();
    const storage = memory();
    const acme = carrier({ name: "acme", modes: ["live"] });
    const one = engine(storage, { transports: [acme], mode: "live" });
    await one.senders.create({ address, channels: ["sms"], transport: "acme" });
    const other = engine(storage, { transports: [carrier({ modes: ["live"] })], mode: "live" });
    const send = (media?: { url: string }[]) =>
      other.messages.send({ to: "+15005550001", body: "Hello", from, media });
    const message =
      `The sender ${address} uses the transport acme, which this engine does not have for sms in ` +
      "live mode. Pass it to the engine.";
    await expect(send()).rejects.toMatchObject({
      code: "no_sender",
      errors: [{ pointer: "/from", code: "no_sender", message }],
    });
    await expect(send([{ url: "https://example.com/a.png" }])).rejects.toMatchObject({
      code: "no_sender",
      message: expect.not.stringContaining("acme"),
    });
  },
);
