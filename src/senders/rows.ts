import type { AccountId, SenderId } from "../kernel/ids.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  real,
  text,
  time,
} from "../ports/collection.ts";
import type { Channel } from "../kernel/fields.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Pace } from "./throttle-rules.ts";

export interface SenderRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: SenderId;
  readonly address: string;
  readonly channels: readonly Channel[];
  /** The name of the transport that carries it. */
  readonly transport: string;
  readonly default: boolean;
  readonly pool: boolean;
  readonly messages_per_second: number | null;
  readonly daily_cap: number | null;
  readonly created_at: number;
}

export const senders = collection<SenderRow>("senders", {
  account_id: text,
  mode: text,
  id: text,
  address: text,
  channels: json,
  transport: text,
  default: boolean,
  pool: boolean,
  messages_per_second: nullable(real),
  daily_cap: nullable(integer),
  created_at: time,
});
export const senderById = senders.key("account_id", "mode", "id");
export const senderByAddress = senders.unique("by_address", ["account_id", "mode", "address"]);
/** Whose an inbound is: a live address belongs to one account of a transport. */
export const liveSenderByAddress = senders.unique("by_live_address", ["transport", "address"], {
  where: { column: "mode", in: ["live"] },
});

/** Which sender a channel uses when nothing says otherwise: one of the pool, else the default. */
export interface DefaultSenderRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly channel: Channel;
  /** The default. */
  readonly sender_id: SenderId | null;
  /** In the order in which they joined it. */
  readonly pool: readonly SenderId[];
}

export const defaultSenders = collection<DefaultSenderRow>("default_senders", {
  account_id: text,
  mode: text,
  channel: text,
  sender_id: nullable(text),
  pool: json,
});
export const defaultSenderByChannel = defaultSenders.key("account_id", "mode", "channel");

/** A sender that keeps a pace, or that some still wait for. Whoever hands over a message from it writes this row. */
export interface PaceRow extends Pace {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly address: string;
  /** Its transport's, in whose lanes what waits for it stands. */
  readonly transport: string;
  /** Hand-overs that were counted. */
  readonly handed: number;
  readonly last_at: number;
  /** Conversations wait for their turn, and a job gives them. */
  readonly waiting: boolean;
}

export const senderPaces = collection<PaceRow>("sender_paces", {
  account_id: text,
  mode: text,
  address: text,
  transport: text,
  messages_per_second: nullable(real),
  daily_cap: nullable(integer),
  handed: integer,
  last_at: time,
  waiting: boolean,
});
export const paceByAddress = senderPaces.key("account_id", "mode", "address");

/** When each of the last hand-overs of a paced sender was, as far back as its pace looks. They are numbered from 0. */
export interface HandOverRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly address: string;
  readonly number: number;
  readonly at: number;
}

export const senderHandOvers = collection<HandOverRow>("sender_hand_overs", {
  account_id: text,
  mode: text,
  address: text,
  number: integer,
  at: time,
});
export const handOverByNumber = senderHandOvers.key("account_id", "mode", "address", "number");
