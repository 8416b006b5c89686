import * as z from "zod";
import { type Contact, contactSchema, mergeContactsSchema } from "../contacts/index.ts";
import { type Conversation, conversationSchema } from "../conversations/index.ts";

export const previewMergeSchema = z
  .strictObject(mergeContactsSchema.shape)
  .describe("Two contacts to merge into one.");

/** What a merge of two contacts would do. Nothing is changed. */
export interface MergePreview {
  /** The contact after the merge. `updated_at` is the time of its last change before the merge. */
  readonly contact: Contact;
  /**
   * The conversations that the merge would close, as they are now. A contact has at most one active
   * conversation on a medium, and each of the two may have one.
   */
  readonly closes: Conversation[];
}

export const mergePreviewSchema = z
  .strictObject({
    contact: contactSchema.describe(
      "The contact after the merge. `updated_at` is the time of its last change before the merge.",
    ),
    closes: z
      .array(conversationSchema)
      .describe(
        "The conversations that the merge would close, as they are now. A contact has at most " +
          "one active conversation on a medium, and each of the two may have one.",
      ),
  })
  .meta({
    id: "MergePreview",
    description: "What a merge of two contacts would do. Nothing is changed.",
  });
