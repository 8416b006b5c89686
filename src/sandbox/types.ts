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
  .strictObject({
    number: phone.describe("The phone number."),
    behavior: z.string().describe("What happens to a message to the number, in words."),
  })
  .meta({
    id: "SandboxNumber",
    description: "A test number and the behavior of its phone and carrier.",
  });

/** All test numbers. */
export interface SandboxNumbers {
  /** The test numbers. */
  readonly data: SandboxNumber[];
}

export const sandboxNumbersSchema = z
  .strictObject({ data: z.array(sandboxNumberSchema).describe("The test numbers.") })
  .meta({ id: "SandboxNumbers", description: "All test numbers." });

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
      from: phone.describe("The phone number that the message is from."),
      to: senderAddress
        .optional()
        .describe(
          "The sender that receives the message. The default is the account's sandbox number.",
        ),
      body: text(limits.messageCharacters).describe(
        "The text, by default at most 1,600 characters. May be empty if there is media.",
      ),
      media: readonlyList(z.array(mediaSchema).max(limits.mediaItems))
        .optional()
        .describe(
          "The files of the message, by default at most 10. With files, the message is an MMS.",
        ),
      provider_message_id: reference
        .optional()
        .describe("The carrier's id of the message. A repeated id creates no second message."),
    })
    .refine(hasContent, needsContent)
    .meta({
      id: "SandboxInbound",
      description:
        "A message from a contact to simulate. It has media or a text that is not empty.",
    });

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
    status: receiptStatusSchema.describe("The status that the carrier reports."),
    at: instant
      .optional()
      .describe("When the status was reached, by the carrier's clock. The default is now."),
    error: z
      .enum(carrierErrorCodes)
      .optional()
      .describe(
        "Why the message was not delivered. Only `undelivered` uses it. The default is `unknown`.",
      ),
  })
  .meta({ id: "SandboxReceipt", description: "A carrier's receipt to simulate." });

/** Receipts to simulate for a message. */
export interface SandboxReceipts {
  /** The id of the message. */
  readonly id: string;
  /** 1 to 100 receipts, applied in this order. */
  readonly receipts: readonly SandboxReceipt[];
}

export const sandboxReceiptsSchema = z
  .strictObject({
    id: reference.describe("The id of the message."),
    receipts: readonlyList(z.array(sandboxReceiptSchema).min(1).max(100)).describe(
      "1 to 100 receipts, applied in this order.",
    ),
  })
  .meta({ id: "SandboxReceipts", description: "Receipts to simulate for a message." });

/** An event to simulate, with sample data. */
export interface SandboxEvent {
  /** The type of the event. */
  readonly type: EventType;
  /** The contact of the event. The default is a fictional contact. */
  readonly contact_id?: string | undefined;
}

export const sandboxEventSchema = z
  .strictObject({
    type: eventTypeSchema.describe("The type of the event."),
    contact_id: reference
      .optional()
      .describe("The contact of the event. The default is a fictional contact."),
  })
  .meta({ id: "SandboxEvent", description: "An event to simulate, with sample data." });

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
    contacts: z.int().describe("The number of contacts created."),
    conversations: z.int().describe("The number of conversations created."),
    messages: z.int().describe("The number of messages created."),
  })
  .meta({
    id: "SandboxSeedResult",
    description: "The numbers of rows created. All are 0 when the sample data already exists.",
  });

/** The result of a sandbox reset. */
export interface SandboxResetResult {
  /** The number of rows removed. */
  readonly removed: number;
}

export const sandboxResetResultSchema = z
  .strictObject({ removed: z.int().describe("The number of rows removed.") })
  .meta({ id: "SandboxResetResult", description: "The result of a sandbox reset." });
