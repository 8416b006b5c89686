import * as z from "zod";
import { contactSchema, type Contact } from "../contacts/index.ts";
import { conversationSchema, type Conversation } from "../conversations/index.ts";
import { reference } from "../kernel/index.ts";

/** Two contacts to merge into one. */
export interface MergeContacts {
  /** The id of the contact that stays. */
  readonly id: string;
  /** The other contact. Its history moves to this one. */
  readonly contact_id: string;
}

export const mergeContactsSchema = z
  .strictObject({ id: reference, contact_id: reference })
  .meta({ id: "MergeContacts" });

export const previewMergeSchema = z
  .strictObject(mergeContactsSchema.shape)
  .meta({ interface: "MergeContacts" });

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
    contact: contactSchema,
    closes: z.array(conversationSchema),
  })
  .meta({ id: "MergePreview" });
