import { inArea } from "../mutant.ts";

/** Pages that skip, repeat or end too early. */
export const pagination = inArea("pagination", [
  {
    name: "page-skips-a-row",
    sentence: "Each page ends one row late, so that a sync misses a row per page.",
    file: "src/store/reads/scan.ts",
    find: "return { rows: page, more: true, last: lastPlace(columns, page) };",
    replace: "return { rows: page, more: true, last: lastPlace(columns, rows) };",
    tests: ["test/store/reads/scan.test.ts", "test/operations/lists.test.ts"],
  },
  {
    name: "full-page-is-the-last",
    sentence: "A page has one row more than its limit, and the list ends there.",
    file: "src/store/reads/scan.ts",
    find: "const more = near.length > limit;",
    replace: "const more = near.length > limit + 1;",
    tests: ["test/store/reads/scan.test.ts", "test/operations/lists.test.ts"],
  },
  {
    name: "ranges-have-no-horizon",
    sentence:
      "A list over several ranges shows rows beyond what was examined, and later pages skip rows.",
    file: "src/store/reads/scan.ts",
    find: "const horizon = nearestEnd(scans);",
    replace: "const horizon = nearestEnd(scans.slice(0, 1));",
    tests: ["test/store/reads/scan-ranges.test.ts", "test/store/reads/scan.test.ts"],
  },
  {
    name: "cursor-is-not-signed",
    sentence: "A client can write its own cursor and read from any position.",
    file: "src/operations/lists/pagination.ts",
    find:
      "    bytes.length > macBytes &&\n" +
      "    timingSafeEqual(bytes.subarray(0, macBytes), mac(binding, position, secret));",
    replace: "    bytes.length > macBytes;",
    tests: ["test/operations/lists.test.ts"],
  },
  {
    name: "cursor-ignores-filters",
    sentence:
      "A cursor continues a list with other filters, and rows are missing without an error.",
    file: "src/operations/lists/pagination.ts",
    find: "    canonical(filters),\n",
    replace: "",
    tests: ["test/operations/lists.test.ts"],
  },
  {
    name: "buffered-row-is-listed-twice",
    sentence: "A transaction lists a row that it has changed in its old and its new version.",
    file: "src/store/transactions/overlay.ts",
    find: "(row) => overlay.find(collection, keyOf(collection, row)) === undefined,",
    replace: "(row) => overlay.find(collection, keyOf(collection, row))?.row !== undefined,",
    tests: ["test/store/serializability.test.ts"],
  },
]);
