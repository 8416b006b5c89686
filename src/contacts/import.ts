import { importContact } from "./import-contact.ts";
import {
  type ImportContacts,
  importContactsSchema,
  type ImportCounts,
  type ImportReport,
  type ImportResult,
} from "./types.ts";
import { parse, TidingsError } from "../kernel/index.ts";
import type { Call, Procedure, RowProcedure, Steps } from "../operations/index.ts";

/** Rows that are under way at once, as many as share a commit: more are not held. */
const chunk = 64;

/** Makes and updates contacts by their phone numbers, each by itself: a bad one harms no other. */
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

/** The same of any number of rows, as they come. What was done before is `unchanged`: cut off, it is run again from the start. */
export const importContactRows: RowProcedure<ImportReport, ImportCounts> = {
  kind: "rows",
  name: importContacts.name,
  run: importRows,
};

type Rows = Iterable<unknown> | AsyncIterable<unknown>;

async function* importRows(
  steps: Pick<Steps, "execute">,
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
  }
  return total;
}

/** @throws what may pass: the import is to be run again */
async function importRow(
  steps: Pick<Steps, "execute">,
  schema: ReturnType<typeof importContact.input>,
  item: unknown,
  index: number,
): Promise<ImportReport> {
  try {
    // A row that could not be read is the error that says why.
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
