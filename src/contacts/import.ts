import * as z from "zod";
import {
  type ContactId,
  type FieldError,
  fieldErrorSchema,
  type GenerateId,
  ids,
  parse,
  TidingsError,
} from "../kernel/index.ts";
import {
  type ImportContact,
  type ImportContacts,
  importContactSchema,
  importContactsSchema,
} from "./input-types.ts";
import type { Call, Command, ItemSteps, Procedure, RowProcedure } from "../operations/index.ts";
import { contactUpdated } from "./events.ts";
import type { KeyObject } from "node:crypto";
import { showContact } from "./reads.ts";
import { contactById, type ContactRow, identityByAddress, type IdentityRow } from "./rows.ts";
import { StorageConflict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { isNewConsent } from "./consent.ts";
import { setConsent, stateOf } from "./consent-access.ts";
import { createContactWith, writeContact } from "./identities.ts";

/** The result of importing one contact. */
export interface ImportedContact {
  readonly status: "created" | "updated" | "unchanged";
  readonly contact_id: ContactId;
}

/** The result of importing one contact. */
export interface ImportReport {
  /** The position in the import, from 0. */
  readonly index: number;
  /** What the import did. `unchanged`: the contact had all these values already. */
  readonly status: "created" | "updated" | "unchanged" | "failed";
  /** The contact with the phone number. Null when the status is `failed`. */
  readonly contact_id: ContactId | null;
  /** The errors of each field when the status is `failed`. */
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
      .describe("The errors of each field when the status is `failed`."),
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

/** The number of rows in progress at once, which share a commit. It also bounds memory. */
const chunk = 64;

/** Creates and updates contacts by phone number. An invalid row does not affect the others. */
export const importContacts: Procedure<ImportContacts, ImportResult> = {
  kind: "procedure",
  name: "contacts.import",
  input: importContactsSchema,
  status: 200,
  async run(steps, { contacts }, call) {
    const data: ImportReport[] = [];
    for await (const report of importRows(steps, contacts, call)) data.push(report);
    return { data, ...countsOf(data) };
  },
};

/**
 * Imports a stream of rows. After an interruption it runs again from the start, and finished rows
 * are `unchanged`.
 */
export const importContactRows: RowProcedure<ImportReport, ImportCounts> = {
  kind: "rows",
  name: importContacts.name,
  run: importRows,
};

type Rows = Iterable<unknown> | AsyncIterable<unknown>;

async function* importRows(
  steps: ItemSteps,
  rows: Rows,
  call: Call,
): AsyncGenerator<ImportReport, ImportCounts> {
  const schema = importContact.input(call.services.limits);
  const total = { ...countsOf([]) };
  let index = 0;
  for await (const items of chunks(rows)) {
    const start = index;
    index += items.length;
    const reports = await Promise.all(
      items.map((item, i) => importRow(steps, schema, item, start + i)),
    );
    for (const report of reports) total[report.status]++;
    yield* reports;
    await steps.yieldToEventLoop();
  }
  return total;
}

/** @throws retryable errors, after which the import runs again */
async function importRow(
  steps: ItemSteps,
  schema: ReturnType<typeof importContact.input>,
  item: unknown,
  index: number,
): Promise<ImportReport> {
  try {
    // The reader passes the error of an unreadable row in place of the row.
    if (item instanceof TidingsError) throw item;
    const { value } = await steps.execute(importContact, parse(schema, item), index);
    return { index, ...value, errors: [] };
  } catch (error) {
    if (!(error instanceof TidingsError) || error.retryable) throw error;
    const { code, message } = error;
    const errors = error.errors.length > 0 ? [...error.errors] : [{ pointer: "", code, message }];
    return { index, status: "failed", contact_id: null, errors };
  }
}

async function* chunks(rows: Rows): AsyncGenerator<unknown[]> {
  let items: unknown[] = [];
  for await (const row of rows) {
    items.push(row);
    if (items.length < chunk) continue;
    yield items;
    items = [];
  }
  if (items.length > 0) yield items;
}

function countsOf(reports: readonly ImportReport[]): ImportCounts {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  for (const { status } of reports) counts[status]++;
  return counts;
}

/** Creates or updates the contact of a phone number. A repetition changes nothing. */
const importContact: Command<ImportContact, ImportedContact> = {
  kind: "command",
  name: "contacts.import_one",
  input: importContactSchema,
  status: 200,
  isItem: true,
  async run(tx, { phone, consent, ...given }, { services }) {
    const { drawId } = services;
    const { secret } = services;
    const facts = factsOf(given);
    // Locked: a concurrent merge or erasure moves or removes the identity.
    const identity = await tx.get(identityByAddress, ["text", phone], {
      hold: true,
    });
    if (identity === undefined) {
      const address = { medium: "text", address: phone } as const;
      const own = await createContactWith(tx, drawId, secret, { ...facts, phone }, address);
      await applyConsent(tx, drawId, secret, own, consent);
      return { status: "created", contact_id: own.contact_id };
    }
    const { contact_id } = identity;
    const known = await tx.get(contactById, [contact_id]);
    if (known === undefined) throw new StorageConflict("the contact was erased between two reads");
    const isNew = changes(known, facts);
    if (isNew) {
      const contact = await showContact(tx, await writeContact(tx, known, facts), services);
      appendEvent(tx, drawId, contactUpdated, { contact }, { contact_id });
    }
    const isSaid = await applyConsent(tx, drawId, secret, identity, consent);
    return { status: isNew || isSaid ? "updated" : "unchanged", contact_id };
  },
};

type Given = Omit<ImportContact, "phone" | "consent">;
type Facts = { [K in keyof Given]?: Exclude<Given[K], undefined> };

/** An absent field stays as it is. */
function factsOf(given: Given): Facts {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function changes(known: ContactRow, facts: Facts): boolean {
  return Object.entries(facts).some(
    ([name, value]) => plain(Reflect.get(known, name)) !== plain(value),
  );
}

/** The order of attributes is irrelevant. */
function plain(value: unknown): string {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  return JSON.stringify(
    isMap ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value,
  );
}

/**
 * An import does not know when the consent was given. So it may record an opt-out, but does not
 * replace consent that was given here.
 */
async function applyConsent(
  tx: Tx,
  drawId: GenerateId,
  secret: KeyObject,
  identity: IdentityRow,
  said: ImportContact["consent"],
): Promise<boolean> {
  if (said === undefined) return false;
  const { medium, address, consent, opted_out_of } = identity;
  const { status, detail = null } = said;
  if (!isNewConsent(stateOf(identity), { status, sender: null })) return false;
  if (status === "opted_in" && (consent !== "unknown" || opted_out_of.length > 0)) return false;
  const written = await setConsent(tx, drawId, secret, {
    medium,
    address,
    status,
    sender: null,
    source: "import",
    message_id: null,
    detail,
  });
  return written.isChanged;
}
