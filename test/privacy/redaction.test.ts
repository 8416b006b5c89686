/** What a redaction removes, besides the text of the message itself. */
import { describe, expect, it } from "vitest";
import { consumerEvents } from "../../src/events/consumer-reader.ts";
import { rowsOf, tablesWith } from "../contacts/rows.ts";
import { agency } from "../agents/world.ts";
import { storages } from "../support/storages.ts";

describe.each(storages)("a redaction on $name", ({ open }) => {
  it("removes consumers' errors about the message's events, and no others", async () => {
    const storage = open().connect();
    const { engine, say, pass } = await agency(storage, {
      model: ({ messages }) => ({ handoff: { reason: `They wrote: ${messages.at(-1)?.text}` } }),
    });
    engine.consume("messages", ["message.received"], ({ data: { body } }) => {
      throw new Error(`cannot store ${body}`);
    });
    engine.consume("handoffs", ["conversation.handoff"], ({ data: { reason } }) => {
      throw new Error(`cannot store ${reason}`);
    });
    const { id } = await say("I am allergic to kumquats.");
    await say("Hello?", "+15005550102");
    await pass();
    const errors = async () => (await rowsOf(storage, consumerEvents)).map(({ error }) => error);
    const aboutHello = ["Error: cannot store Hello?", "Error: cannot store They wrote: Hello?"];
    expect(await errors()).toEqual(
      expect.arrayContaining([
        "Error: cannot store I am allergic to kumquats.",
        "Error: cannot store They wrote: I am allergic to kumquats.",
        ...aboutHello,
      ]),
    );

    await engine.messages.redact(id);

    expect(await tablesWith(storage, ["kumquats"])).toEqual([]);
    expect((await errors()).filter((error) => error !== null).toSorted()).toEqual(aboutHello);
  });
});
