import { senderResource } from "../domain/senders/resource.ts";
import { senderById, senders } from "../domain/senders/rows.ts";
import { type Sender, type UpdateSender, updateSenderSchema } from "../domain/senders/types.ts";
import { notFound } from "../errors.ts";
import type { Command } from "../operation.ts";
import { dropDefault, isDefaultFor, makeDefault } from "./steps/default-sender.ts";
import { refuseUnfit } from "./steps/refuse-unfit.ts";

/** Changes what a sender carries, its pace, or whether it is the default. */
export const updateSender: Command<UpdateSender, Sender> = {
  kind: "command",
  name: "senders.update",
  input: () => updateSenderSchema,
  status: 200,
  async run(tx, { id, default: standard, ...change }, { scope, services }) {
    const sender = await tx.get(senderById, [scope.account_id, scope.mode, id]);
    if (sender === undefined) throw notFound("sender");
    const channels = change.channels ?? sender.channels;
    if (change.channels !== undefined) refuseUnfit(services.transports, sender.transport, scope.mode, channels);
    const pace = change.messages_per_second === undefined ? sender.messages_per_second : change.messages_per_second;

    const dropped =
      standard === false ? sender.channels : sender.channels.filter((channel) => !channels.includes(channel));
    await dropDefault(tx, sender, dropped);
    const isDefault = await isDefaultFor(tx, sender, channels);
    const updated = tx.update(senders, sender, { channels, messages_per_second: pace, default: isDefault });
    return senderResource(standard === true ? await makeDefault(tx, updated, channels) : updated);
  },
};
