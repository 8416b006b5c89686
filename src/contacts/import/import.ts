import { maxItemErrors, parse, TidingsError } from "../../kernel/index.ts";
import type { Call, ItemSteps, Procedure, RowProcedure } from "../../operations/index.ts";
import { importContact } from "./import-contact.ts";
import {
  importContactsSchema,
  type ImportContacts,
  type ImportCounts,
  type ImportReport,
  type ImportResult,
} from "./import-types.ts";

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
  const total = countsOf([]);
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
    const row = parse(schema, item, { limit: maxItemErrors });
    const { value } = await steps.execute(importContact, row, index);
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

function countsOf(reports: readonly ImportReport[]): Record<ImportReport["status"], number> {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  for (const { status } of reports) counts[status]++;
  return counts;
}
