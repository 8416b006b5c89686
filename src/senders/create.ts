import { senderResource } from "./resource.ts";
import { liveSenderByAddress, senderByAddress, senders } from "./rows.ts";
import { type CreateSender, createSenderSchema, type Sender } from "./types.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { makeDefault, withoutDefault } from "./default-sender.ts";
import { setPace } from "./throttle.ts";
import { refuseUnfit } from "./refuse-unfit.ts";
import { setPools } from "./pools.ts";
import { unscoped } from "../store/index.ts";

/** Makes an address the account's: what comes to it is the account's, and it can be written from. */
export const createSender: Command<CreateSender, Sender> = {
  kind: "command",
  name: "senders.create",
  input: () => createSenderSchema,
  status: 201,
  async run(tx, { address, channels, transport, ...wish }, { scope, services }) {
    const { mode } = scope;
    const { pool = false, messages_per_second = null, daily_cap = null } = wish;
    refuseUnfit(services.transports, transport, mode, channels);
    const own = await tx.get(senderByAddress, [address]);
    if (own !== undefined) {
      throw new TidingsError("conflict", `${address} is a sender already.`, {
        conflictingId: own.id,
      });
    }
    // Whose an inbound is must be clear: in live an address of a transport is one account's.
    if (
      mode === "live" &&
      (await unscoped(tx).get(liveSenderByAddress, [transport, address])) !== undefined
    ) {
      throw new TidingsError("conflict", `${address} can't be used.`);
    }
    const sender = tx.insert(senders, {
      id: services.drawId("snd"),
      address,
      channels,
      transport,
      default: false,
      pool,
      messages_per_second,
      daily_cap,
      created_at: tx.now,
    });
    await setPace(tx, sender);
    if (pool) await setPools(tx, sender, []);
    const free = wish.default === undefined ? await withoutDefault(tx, channels) : channels;
    const standard =
      wish.default === false || free.length === 0 ? sender : await makeDefault(tx, sender, free);
    return senderResource(standard);
  },
};
