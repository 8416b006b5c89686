/** Imports of contacts: their inputs and results. */
import * as z from "zod";
import {
  documentedAs,
  fieldErrorSchema,
  ids,
  readonlyList,
  text,
  type ContactId,
  type FieldError,
  type Limits,
} from "../../kernel/index.ts";
import { changeFields, factFields, type ContactChanges } from "../input-types.ts";

/** The consent of an imported phone number to text messages. */
export interface ImportConsent {
  /** The consent of the phone number. */
  readonly status: "opted_in" | "opted_out";
  /** Where the consent comes from, up to 500 characters. It is kept as evidence. */
  readonly detail?: string | undefined;
}

export const importConsentSchema = z
  .strictObject({
    status: z.enum(["opted_in", "opted_out"]),
    detail: text(500).optional(),
  })
  .meta({ interface: "ImportConsent" });

/** A contact to create or update. An absent field keeps its value. */
export interface ImportContact extends ContactChanges {
  /**
   * The phone number: `+` and 7 to 15 digits (E.164). It decides which contact is updated. An
   * unknown number creates a contact.
   */
  readonly phone: string;
  /**
   * Consent to text messages. An import never lifts an opt-out. An opt-in counts only when no
   * consent is known.
   */
  readonly consent?: ImportConsent | undefined;
}

export const importContactSchema = (limits: Limits) =>
  z
    .strictObject({
      ...changeFields(limits),
      phone: factFields(limits).phone,
      consent: importConsentSchema.optional(),
    })
    .meta({ id: "ImportContact" });

/** Contacts to create or update by phone number. */
export interface ImportContacts {
  /** The contacts. An invalid one does not affect the others. */
  readonly contacts: readonly unknown[];
}

export const importContactsSchema = (limits: Limits) =>
  z
    .strictObject({
      contacts: readonlyList(
        z
          .array(documentedAs<unknown>(importContactSchema(limits)))
          .min(1)
          .max(limits.batchItems),
      ),
    })
    .meta({ id: "ImportContacts" });

/** A contact that was imported. */
export interface ImportSuccess {
  /** The position in the import, from 0. */
  readonly index: number;
  /** What the import did. `unchanged`: the contact had all these values already. */
  readonly status: "created" | "updated" | "unchanged";
  /** The contact with the phone number. */
  readonly contact_id: ContactId;
  /** Always empty. */
  readonly errors: FieldError[];
}

export const importSuccessSchema = z
  .strictObject({
    index: z.int(),
    status: z.enum(["created", "updated", "unchanged"]),
    contact_id: ids.contact,
    errors: z.array(fieldErrorSchema),
  })
  .meta({ id: "ImportSuccess" });

/** A contact that was not imported. */
export interface ImportFailure {
  /** The position in the import, from 0. */
  readonly index: number;
  /** `failed`: nothing of the contact was stored. */
  readonly status: "failed";
  /** Always null. */
  readonly contact_id: null;
  /** The invalid fields, at most 20. */
  readonly errors: FieldError[];
}

export const importFailureSchema = z
  .strictObject({
    index: z.int(),
    status: z.literal("failed"),
    contact_id: z.null(),
    errors: z.array(fieldErrorSchema),
  })
  .meta({ id: "ImportFailure" });

/** The result of importing one contact. */
export type ImportReport = ImportSuccess | ImportFailure;

export const importReportSchema = z
  .discriminatedUnion("status", [importSuccessSchema, importFailureSchema])
  .meta({ id: "ImportReport" });

/** The counts of an import. */
export interface ImportCounts {
  /** The number of contacts that were created. */
  readonly created: number;
  /** The number of contacts that were updated. */
  readonly updated: number;
  /** The number of contacts that had all the values already. */
  readonly unchanged: number;
  /** The number of rows that failed. */
  readonly failed: number;
}

/** The reports and counts of an import. */
export interface ImportResult extends ImportCounts {
  /** One report for each contact, in the given order. */
  readonly data: ImportReport[];
}

export const importResultSchema = z
  .strictObject({
    data: z.array(importReportSchema),
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    failed: z.int(),
  })
  .meta({ id: "ImportResult" });
