import { type ById, byIdSchema, notFound } from "../kernel/index.ts";
import { senderById, senders } from "./rows.ts";
import type { Command } from "../operations/index.ts";
import { dropDefault } from "./default-sender.ts";
import { setPace } from "./throttle.ts";
import { setPools } from "./pools.ts";

/** Gives an address up. What is queued from it still goes out, at no pace; what comes to it is nobody's any more. */
export const removeSender: Command<ById, void> = {
  kind: "command",
  name: "senders.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }) {
    const sender = await tx.get(senderById, [id]);
    if (sender === undefined) throw notFound("sender");
    await dropDefault(tx, sender, sender.channels);
    if (sender.pool) await setPools(tx, { ...sender, pool: false }, sender.channels);
    await setPace(tx, { ...sender, messages_per_second: null, daily_cap: null });
    tx.remove(senders, sender);
  },
};
