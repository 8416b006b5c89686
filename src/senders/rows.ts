import type { Channel, SenderId } from "../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  real,
  scoped,
  text,
  time,
  type RowOf,
} from "../ports/index.ts";

export const senders = scoped("senders", {
  id: text<SenderId>(),
  address: text(),
  channels: json<readonly Channel[]>(),
  /** The name of the sender's transport. */
  transport: text(),
  pool: boolean(),
  messages_per_second: nullable(real()),
  daily_cap: nullable(integer()),
  created_at: time(),
});
export interface SenderRow extends RowOf<typeof senders> {}

export const senderById = senders.key("id");
export const senderByAddress = senders.unique("by_address", ["address"]);
/** Finds the account of an inbound message. A transport's live address belongs to one account. */
export const liveSenderByAddress = senders.acrossScopes.unique(
  "by_live_address",
  ["transport", "address"],
  {
    where: { column: "mode", in: ["live"] },
  },
);

/** Finds the accounts whose sandbox has a sender. Several may share an address. */
export const sandboxSendersByAddress = senders.acrossScopes.index(
  "by_sandbox_address",
  ["transport", "address"],
  { where: { column: "mode", in: ["sandbox"] } },
);

/** The channels of each sender. The next default sender of a channel is found here. */
export const senderChannels = scoped("sender_channels", {
  channel: text<Channel>(),
  sender_id: text<SenderId>(),
});

export const senderOfChannel = senderChannels.key("channel", "sender_id");

/**
 * The senders that a channel uses if a message names none: one of the pool, else the default. The
 * row exists exactly while the channel has a sender.
 */
export const defaultSenders = scoped("default_senders", {
  channel: text<Channel>(),
  /** The default sender. */
  sender_id: text<SenderId>(),
  /** The senders of the pool, in the order in which they joined. */
  pool: json<readonly SenderId[]>(),
});
export interface DefaultSenderRow extends RowOf<typeof defaultSenders> {}

export const defaultSenderByChannel = defaultSenders.key("channel");

/**
 * A sender that is throttled, or that conversations still wait for. Each hand-over of a message
 * from the sender writes this row. Hand-overs of several engines therefore conflict instead of
 * exceeding the limits.
 */
export const senderThrottles = scoped("sender_throttles", {
  address: text(),
  /** The sender's transport. Waiting jobs are in lanes of this transport. */
  transport: text(),
  messages_per_second: nullable(real()),
  daily_cap: nullable(integer()),
  /** The number of hand-overs counted so far. */
  handed: integer(),
  /** When the last hand-over happened, or the throttle began. No later one has an earlier time. */
  last_at: time(),
  /** Whether conversations wait for the sender. A `throttle` job releases them. */
  waiting: boolean(),
});
export interface ThrottleRow extends RowOf<typeof senderThrottles> {}

export const throttleByAddress = senderThrottles.key("address");

/**
 * The times of a throttled sender's last hand-overs, as many as its limits count. Hand-overs are
 * numbered from 0.
 */
export const senderHandOvers = scoped("sender_hand_overs", {
  address: text(),
  number: integer(),
  at: time(),
});

export const handOverByNumber = senderHandOvers.key("address", "number");
