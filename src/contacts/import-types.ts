/** The results of imports of contacts. */
import * as z from "zod";
import { type ContactId, type FieldError, fieldErrorSchema, ids } from "../kernel/index.ts";

/** The result of importing one contact. */
export interface ImportReport {
  /** The position in the import, from 0. */
  readonly index: number;
  /** What the import did. `unchanged`: the contact had all these values already. */
  readonly status: "created" | "updated" | "unchanged" | "failed";
  /** The contact with the phone number. Null when the status is `failed`. */
  readonly contact_id: ContactId | null;
  /** The invalid fields when the status is `failed`, at most 20. */
  readonly errors: FieldError[];
}

export const importReportSchema = z
  .strictObject({
    index: z.int().describe("The position in the import, from 0."),
    status: z
      .enum(["created", "updated", "unchanged", "failed"])
      .describe("What the import did. `unchanged`: the contact had all these values already."),
    contact_id: ids.contact
      .nullable()
      .describe("The contact with the phone number. Null when the status is `failed`."),
    errors: z
      .array(fieldErrorSchema)
      .describe("The invalid fields when the status is `failed`, at most 20."),
  })
  .meta({ id: "ImportReport", description: "The result of importing one contact." });

const counts = {
  created: z.int().describe("The number of contacts that were created."),
  updated: z.int().describe("The number of contacts that were updated."),
  unchanged: z.int().describe("The number of contacts that had all the values already."),
  failed: z.int().describe("The number of rows that failed."),
};

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

export const importCountsSchema = z
  .strictObject(counts)
  .meta({ id: "ImportCounts", description: "The counts of an import." });

/** The reports and counts of an import. */
export interface ImportResult extends ImportCounts {
  /** One report for each contact, in the given order. */
  readonly data: ImportReport[];
}

export const importResultSchema = z
  .strictObject({
    data: z.array(importReportSchema).describe("One report for each contact, in the given order."),
    ...counts,
  })
  .meta({ id: "ImportResult", description: "The reports and counts of an import." });
