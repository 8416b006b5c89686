/** Schemas and types of the sandbox's simulation tools. */
import * as z from "zod";
import { eventTypeSchema, type EventType } from "../events/index.ts";
import {
  instant,
  phone,
  readonlyList,
  reference,
  senderAddress,
  text,
  type Limits,
} from "../kernel/index.ts";
import {
  hasContent,
  mediaSchema,
  needsContent,
  receiptStatusSchema,
  type ReceiptStatus,
} from "../messages/index.ts";
import { carrierErrorCodes, type CarrierErrorCode, type Media } from "../ports/index.ts";

/** A test number and the behavior of its phone and carrier. */
export interface SandboxNumber {
  /** The phone number. */
  readonly number: string;
  /** What happens to a message to the number, in words. */
  readonly behavior: string;
}

export const sandboxNumberSchema = z
  .strictObject({ number: phone, behavior: z.string() })
  .meta({ id: "SandboxNumber" });

/** All test numbers. */
export interface SandboxNumbers {
  /** The test numbers. */
  readonly data: SandboxNumber[];
}

export const sandboxNumbersSchema = z
  .strictObject({ data: z.array(sandboxNumberSchema) })
  .meta({ id: "SandboxNumbers" });

/** A message from a contact to simulate. It has media or a text that is not empty. */
export interface SandboxInbound {
  /** The phone number that the message is from. */
  readonly from: string;
  /** The sender that receives the message. The default is the account's sandbox number. */
  readonly to?: string | undefined;
  /** The text, by default at most 1,600 characters. May be empty if there is media. */
  readonly body: string;
  /** The files of the message, by default at most 10. With files, the message is an MMS. */
  readonly media?: readonly Media[] | undefined;
  /** The carrier's id of the message. A repeated id creates no second message. */
  readonly provider_message_id?: string | undefined;
}

export const sandboxInboundSchema = (limits: Limits) =>
  z
    .strictObject({
      from: phone,
      to: senderAddress.optional(),
      body: text(limits.messageCharacters),
      media: readonlyList(z.array(mediaSchema).max(limits.mediaItems)).optional(),
      provider_message_id: reference.optional(),
    })
    .refine(hasContent, needsContent)
    .meta({ id: "SandboxInbound" });

/** A carrier's receipt to simulate. */
export interface SandboxReceipt {
  /** The status that the carrier reports. */
  readonly status: ReceiptStatus;
  /** When the status was reached, by the carrier's clock. The default is now. */
  readonly at?: string | undefined;
  /** Why the message was not delivered. Only `undelivered` uses it. The default is `unknown`. */
  readonly error?: CarrierErrorCode | undefined;
}

export const sandboxReceiptSchema = z
  .strictObject({
    status: receiptStatusSchema,
    at: instant.optional(),
    error: z.enum(carrierErrorCodes).optional(),
  })
  .meta({ id: "SandboxReceipt" });

/** Receipts to simulate for a message. */
export interface SandboxReceipts {
  /** The id of the message. */
  readonly id: string;
  /** 1 to 100 receipts, applied in this order. */
  readonly receipts: readonly SandboxReceipt[];
}

export const sandboxReceiptsSchema = z
  .strictObject({
    id: reference,
    receipts: readonlyList(z.array(sandboxReceiptSchema).min(1).max(100)),
  })
  .meta({ id: "SandboxReceipts" });

/** An event to simulate, with sample data. */
export interface SandboxEvent {
  /** The type of the event. */
  readonly type: EventType;
  /** The contact of the event. The default is a fictional contact. */
  readonly contact_id?: string | undefined;
}

export const sandboxEventSchema = z
  .strictObject({
    type: eventTypeSchema,
    contact_id: reference.optional(),
  })
  .meta({ id: "SandboxEvent" });

/** The numbers of rows created. All are 0 when the sample data already exists. */
export interface SandboxSeedResult {
  /** The number of contacts created. */
  readonly contacts: number;
  /** The number of conversations created. */
  readonly conversations: number;
  /** The number of messages created. */
  readonly messages: number;
}

export const sandboxSeedResultSchema = z
  .strictObject({
    contacts: z.int(),
    conversations: z.int(),
    messages: z.int(),
  })
  .meta({ id: "SandboxSeedResult" });

/** The result of a sandbox reset. */
export interface SandboxResetResult {
  /** The number of rows removed. */
  readonly removed: number;
}

export const sandboxResetResultSchema = z
  .strictObject({ removed: z.int() })
  .meta({ id: "SandboxResetResult" });
