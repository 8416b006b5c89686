/** Schemas and types of the sandbox's simulation tools. */
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

export const sandboxNumberSchema = z.strictObject({ number: phone, behaviour: z.string() }).meta({
  id: "SandboxNumber",
  description: "A test number and the behaviour of its phone and carrier.",
});
export interface SandboxNumber extends z.infer<typeof sandboxNumberSchema> {}

export const sandboxNumbersSchema = z
  .strictObject({ data: z.array(sandboxNumberSchema) })
  .meta({ id: "SandboxNumbers" });
export interface SandboxNumbers extends z.infer<typeof sandboxNumbersSchema> {}

/** A simulated inbound message. */
export const sandboxInboundSchema = (limits: Limits) =>
  z
    .strictObject({
      from: phone,
      to: senderAddress.optional().describe("The default is the account's sandbox number."),
      body: text(limits.message_characters),
      media: z.array(mediaSchema).max(limits.media_items).optional(),
      provider_message_id: reference
        .optional()
        .describe("A repeated id creates no second message."),
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
            at: instant.optional().describe("The carrier's time. The default is now."),
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
      .describe("The contact of the event. The default is a fictional contact."),
  })
  .meta({ id: "SandboxEvent" });
export interface SandboxEvent extends z.infer<typeof sandboxEventSchema> {}

export const sandboxSeedResultSchema = z
  .strictObject({ contacts: z.int(), conversations: z.int(), messages: z.int() })
  .meta({
    id: "SandboxSeedResult",
    description: "The numbers of rows created. All are 0 when the sample data already exists.",
  });
export interface SandboxSeedResult extends z.infer<typeof sandboxSeedResultSchema> {}

/** The result of a sandbox reset. */
export const sandboxResetResultSchema = z
  .strictObject({ removed: z.int() })
  .meta({ id: "SandboxResetResult", description: "The number of rows removed." });
export interface SandboxResetResult extends z.infer<typeof sandboxResetResultSchema> {}
