import {
  byIdSchema,
  invalid,
  notFound,
  TidingsError,
  withId,
  type ById,
  type Channel,
  type Mode,
} from "../kernel/index.ts";
import { showsNothing, type Command } from "../operations/index.ts";
import type { Transport } from "../ports/index.ts";
import { unscoped } from "../store/index.ts";
import { liveSenderByAddress, senderByAddress, senderById, senders } from "./rows.ts";
import { setChannel } from "./sender-channels.ts";
import { setThrottle } from "./set-throttle.ts";
import { showSender } from "./show.ts";
import {
  createSenderSchema,
  updateSenderSchema,
  type CreateSender,
  type Sender,
  type UpdateSender,
} from "./types.ts";

/** Adds a sender. The account sends from its address and receives the messages to it. */
export const createSender: Command<CreateSender, Sender> = {
  kind: "command",
  name: "senders.create",
  input: () => createSenderSchema,
  status: 201,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { address, channels, transport, ...options }, { scope, services }) {
    const { mode } = scope;
    const { pool = false, messages_per_second = null, daily_cap = null } = options;
    checkTransport(services.transports, transport, mode, channels);
    const existing = await tx.get(senderByAddress, [address]);
    if (existing !== undefined) {
      throw new TidingsError("conflict", `${address} is already a sender of this account.`, {
        conflictingId: existing.id,
      });
    }
    // An inbound message names no account, so a live address must belong to one account only. The
    // error must not reveal that another account has it.
    if (
      mode === "live" &&
      (await unscoped(tx).get(liveSenderByAddress, [transport, address])) !== undefined
    ) {
      throw new TidingsError(
        "conflict",
        `${address} cannot be used as a sender. Choose another address.`,
      );
    }
    const sender = tx.insert(senders, {
      id: tx.drawId("snd"),
      address,
      channels,
      transport,
      pool,
      messages_per_second,
      daily_cap,
      created_at: tx.now,
    });
    await setThrottle(tx, sender);
    for (const channel of channels) {
      const isDefault = options.default;
      await setChannel(tx, sender, channel, { isMember: true, isPooled: pool, isDefault });
    }
    return showSender(tx, sender);
  },
};

/** Changes a sender's channels or throttle, or whether it is a default or in the pool. */
export const updateSender: Command<UpdateSender & ById, Sender> = {
  kind: "command",
  name: "senders.update",
  input: () => withId(updateSenderSchema, "The id of the sender."),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, default: isDefault, ...change }, { scope, services }) {
    const sender = await tx.get(senderById, [id]);
    if (sender === undefined) throw notFound("sender", id);
    const {
      channels = sender.channels,
      pool = sender.pool,
      messages_per_second = sender.messages_per_second,
      daily_cap = sender.daily_cap,
    } = change;
    if (change.channels !== undefined) {
      checkTransport(services.transports, sender.transport, scope.mode, channels);
    }
    const updated = tx.update(senders, sender, { channels, pool, messages_per_second, daily_cap });
    for (const channel of new Set([...sender.channels, ...channels])) {
      const isMember = channels.includes(channel);
      await setChannel(tx, sender, channel, { isMember, isPooled: isMember && pool, isDefault });
    }
    const hasNewThrottle =
      messages_per_second !== sender.messages_per_second || daily_cap !== sender.daily_cap;
    if (hasNewThrottle) await setThrottle(tx, updated);
    return showSender(tx, updated);
  },
};

const noUse = { isMember: false, isPooled: false, isDefault: undefined } as const;

/**
 * Removes a sender. Queued messages from it still go out, without a throttle. New inbound messages
 * to its address belong to no account. The oldest other sender of each channel becomes its default.
 */
export const removeSender: Command<ById, void> = {
  kind: "command",
  name: "senders.remove",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id }) {
    const sender = await tx.get(senderById, [id]);
    if (sender === undefined) throw notFound("sender", id);
    for (const channel of sender.channels) {
      await setChannel(tx, sender, channel, noUse);
    }
    await setThrottle(tx, { ...sender, messages_per_second: null, daily_cap: null });
    tx.remove(senders, sender);
  },
};

/**
 * @throws TidingsError `validation_failed` if the transport is missing or lacks the mode or a
 * channel
 */
function checkTransport(
  transports: readonly Transport[],
  name: string,
  mode: Mode,
  channels: readonly Channel[],
): void {
  const transport = transports.find((each) => each.name === name);
  if (transport === undefined || !transport.capabilities.modes.includes(mode)) {
    const fit = transports.filter(({ capabilities }) => capabilities.modes.includes(mode));
    const names = fit.map((each) => each.name).join(", ");
    const message = `No transport ${name} is configured for ${mode}. Configured: ${names}.`;
    throw invalid([{ pointer: "/transport", code: "unknown_transport", message }]);
  }
  const unsupported = channels.filter(
    (channel) => !transport.capabilities.channels.includes(channel),
  );
  if (unsupported.length > 0) {
    const message = `The transport ${name} does not support ${unsupported.join(", ")}.`;
    throw invalid([{ pointer: "/channels", code: "unsupported_channel", message }]);
  }
}
