/** Which texts can be the address of a sender. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { world } from "../support/engines/world.ts";

const sender = { channels: ["sms" as const], transport: "sandbox" };

it.each(["+15557770100", "12345", "Corner Shop", `MG${"0".repeat(32)}`])(
  "%s can be a sender",
  async (address) => {
    const one = world().engine(memory());
    expect(await one.senders.create({ ...sender, address })).toMatchObject({ address });
  },
);

it.each(["+1 555 777 0100", "+1-555-777-0100", "+0155577701", "+155", "+shop"])(
  "%s cannot, since no carrier reports a message to a number in this form",
  async (address) => {
    const one = world().engine(memory());
    await expect(one.senders.create({ ...sender, address })).rejects.toMatchObject({
      code: "validation_failed",
      errors: [
        {
          pointer: "/address",
          message: "must be + and 7 to 15 digits (E.164) if it begins with +",
        },
      ],
    });
  },
);
