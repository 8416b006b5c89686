import type { AccountId, SenderId } from "../../ids.ts";
import { boolean, collection, json, nullable, real, text, time } from "../../ports/collection.ts";
import type { Channel } from "../../ports/transport.ts";
import type { Mode } from "../../scope.ts";

export interface SenderRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: SenderId;
  readonly address: string;
  readonly channels: readonly Channel[];
  /** The name of the transport that carries it. */
  readonly transport: string;
  readonly default: boolean;
  readonly messages_per_second: number | null;
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
  messages_per_second: nullable(real),
  created_at: time,
});
export const senderById = senders.key("account_id", "mode", "id");
export const senderByAddress = senders.unique("by_address", ["account_id", "mode", "address"]);
/** Whose an inbound is: a live address belongs to one account of a transport. */
export const liveSenderByAddress = senders.unique("by_live_address", ["transport", "address"], {
  where: { column: "mode", in: ["live"] },
});

/** Which sender a channel uses when nothing says otherwise. */
export interface DefaultSenderRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly channel: Channel;
  readonly sender_id: SenderId;
}

export const defaultSenders = collection<DefaultSenderRow>("default_senders", {
  account_id: text,
  mode: text,
  channel: text,
  sender_id: text,
});
export const defaultSenderByChannel = defaultSenders.key("account_id", "mode", "channel");
