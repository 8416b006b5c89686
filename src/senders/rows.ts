import type { Channel, SenderId } from "../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  real,
  type RowOf,
  scoped,
  text,
  time,
} from "../ports/index.ts";

export const senders = scoped("senders", {
  id: text<SenderId>(),
  address: text(),
  channels: json<readonly Channel[]>(),
  /** The name of the transport that carries it. */
  transport: text(),
  default: boolean(),
  pool: boolean(),
  messages_per_second: nullable(real()),
  daily_cap: nullable(integer()),
  created_at: time(),
});
export interface SenderRow extends RowOf<typeof senders> {}

export const senderById = senders.key("id");
export const senderByAddress = senders.unique("by_address", ["address"]);
/** Whose an inbound is: a live address belongs to one account of a transport. */
export const liveSenderByAddress = senders.acrossScopes.unique(
  "by_live_address",
  ["transport", "address"],
  {
    where: { column: "mode", in: ["live"] },
  },
);

/** Which sender a channel uses when nothing says otherwise: one of the pool, else the default. */
export const defaultSenders = scoped("default_senders", {
  channel: text<Channel>(),
  /** The default. */
  sender_id: nullable(text<SenderId>()),
  /** In the order in which they joined it. */
  pool: json<readonly SenderId[]>(),
});
export interface DefaultSenderRow extends RowOf<typeof defaultSenders> {}

export const defaultSenderByChannel = defaultSenders.key("channel");

/** A sender that keeps a pace, or that some still wait for. Whoever hands over a message from it writes this row. */
export const senderPaces = scoped("sender_paces", {
  address: text(),
  /** Its transport's, in whose lanes what waits for it stands. */
  transport: text(),
  messages_per_second: nullable(real()),
  daily_cap: nullable(integer()),
  /** Hand-overs that were counted. */
  handed: integer(),
  last_at: time(),
  /** Conversations wait for their turn, and a job gives them. */
  waiting: boolean(),
});
export interface PaceRow extends RowOf<typeof senderPaces> {}

export const paceByAddress = senderPaces.key("address");

/** When each of the last hand-overs of a paced sender was, as far back as its pace looks. They are numbered from 0. */
export const senderHandOvers = scoped("sender_hand_overs", {
  address: text(),
  number: integer(),
  at: time(),
});
export interface HandOverRow extends RowOf<typeof senderHandOvers> {}

export const handOverByNumber = senderHandOvers.key("address", "number");
