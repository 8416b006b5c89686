import { senderResource } from "./resource.ts";
import { senderById, senders } from "./rows.ts";
import { type Sender, type UpdateSender, updateSenderSchema } from "./types.ts";
import { notFound } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { dropDefault, isDefaultFor, makeDefault } from "./default-sender.ts";
import { setPace } from "./throttle.ts";
import { refuseUnfit } from "./refuse-unfit.ts";
import { setPools } from "./pools.ts";

/** Changes what a sender carries, its pace, or whether it is the default or of the pool. */
export const updateSender: Command<UpdateSender, Sender> = {
  kind: "command",
  name: "senders.update",
  input: () => updateSenderSchema,
  status: 200,
  async run(tx, { id, default: standard, ...change }, { scope, services }) {
    const sender = await tx.get(senderById, [id]);
    if (sender === undefined) throw notFound("sender");
    const channels = change.channels ?? sender.channels;
    if (change.channels !== undefined) {
      refuseUnfit(services.transports, sender.transport, scope.mode, channels);
    }

    const dropped =
      standard === false
        ? sender.channels
        : sender.channels.filter((channel) => !channels.includes(channel));
    await dropDefault(tx, sender, dropped);
    const isDefault = await isDefaultFor(tx, sender, channels);
    const {
      pool = sender.pool,
      messages_per_second = sender.messages_per_second,
      daily_cap = sender.daily_cap,
    } = change;
    const patch = { channels, pool, messages_per_second, daily_cap, default: isDefault };
    const updated = tx.update(senders, sender, patch);
    if (sender.pool || pool) await setPools(tx, updated, sender.channels);
    const hasNewPace =
      messages_per_second !== sender.messages_per_second || daily_cap !== sender.daily_cap;
    if (hasNewPace) await setPace(tx, updated);
    return senderResource(standard === true ? await makeDefault(tx, updated, channels) : updated);
  },
};
