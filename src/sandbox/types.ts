/** The sandbox's test bench: its numbers, messages from a phone, receipts out of turn, seed data. */
import { z } from "zod";
import { instant, type Limits, phone, reference, senderAddress, text } from "../kernel/index.ts";
import { carrierErrorCodes } from "../ports/index.ts";
import { eventTypeSchema } from "../events/index.ts";
import {
  type Draft,
  hasMedia,
  mediaSchema,
  needsContent,
  receiptStatusSchema,
} from "../messages/index.ts";

export const sandboxNumberSchema = z
  .strictObject({ number: phone, behaviour: z.string() })
  .meta({ id: "SandboxNumber", description: "A test number and what its phone and carrier do." });
export interface SandboxNumber extends z.infer<typeof sandboxNumberSchema> {}

export const sandboxNumbersSchema = z
  .strictObject({ data: z.array(sandboxNumberSchema) })
  .meta({ id: "SandboxNumbers" });
export interface SandboxNumbers extends z.infer<typeof sandboxNumbersSchema> {}

/** What the sandbox's test bench takes: a message from a phone, and a receipt out of turn. */
export const sandboxInboundSchema = (limits: Limits) =>
  z
    .strictObject({
      from: phone,
      to: senderAddress
        .optional()
        .meta({ description: "By default the account's sandbox number." }),
      body: text(limits.message_characters),
      media: z.array(mediaSchema).max(limits.media_items).optional(),
      provider_message_id: reference
        .optional()
        .meta({ description: "The same one twice makes one message." }),
    })
    .refine(
      (draft: Draft) => typeof draft.body !== "string" || draft.body !== "" || hasMedia(draft),
      needsContent,
    )
    .meta({ id: "SandboxInbound" });
export interface SandboxInbound extends z.infer<ReturnType<typeof sandboxInboundSchema>> {}

export const sandboxReceiptsSchema = z
  .strictObject({
    id: reference,
    receipts: z
      .array(
        z
          .strictObject({
            status: receiptStatusSchema,
            at: instant.optional().meta({ description: "The carrier's time; by default now." }),
            error: z.enum(carrierErrorCodes).optional(),
          })
          .meta({ id: "SandboxReceipt" }),
      )
      .min(1)
      .max(100),
  })
  .meta({ id: "SandboxReceipts", description: "Applied in the order given." });
export interface SandboxReceipts extends z.infer<typeof sandboxReceiptsSchema> {}

export const sandboxEventSchema = z
  .strictObject({
    type: eventTypeSchema,
    contact_id: reference
      .optional()
      .meta({ description: "Whom it is about; by default somebody made up." }),
  })
  .meta({ id: "SandboxEvent" });
export interface SandboxEvent extends z.infer<typeof sandboxEventSchema> {}

export const sandboxSeedResultSchema = z
  .strictObject({ contacts: z.int(), conversations: z.int(), messages: z.int() })
  .meta({
    id: "SandboxSeedResult",
    description: "How many of each were made; none when they were there already.",
  });
export interface SandboxSeedResult extends z.infer<typeof sandboxSeedResultSchema> {}

/** Removes what the account has in the sandbox, but its keys, senders and webhooks. */
export const sandboxResetResultSchema = z
  .strictObject({ removed: z.int() })
  .meta({ id: "SandboxResetResult", description: "How many rows are gone." });
export interface SandboxResetResult extends z.infer<typeof sandboxResetResultSchema> {}
