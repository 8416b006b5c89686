import { inArea } from "../mutant.ts";

/** What touches the outside. The simulator has its own storage and carriers, so tests find these. */
export const adapter = inArea("adapter", [
  {
    name: "sqlite-removal-is-not-guarded",
    sentence: "A process on a SQLite file removes a row that another one has just changed.",
    file: "adapters/storage/sqlite/writes/writes.ts",
    find: 'return { sql: table.remove, guard: "changes", row: guarded(table, write) };',
    replace: 'return { sql: table.remove, guard: "none", row: guarded(table, write) };',
    tests: ["test/adapters/storage/conformance.test.ts"],
  },
  {
    name: "sqlite-hold-is-not-checked",
    sentence: "A decision on SQLite counts although the row that it depends on has changed.",
    file: "adapters/storage/sqlite/writes/writes.ts",
    find: 'return { sql: table.hold, guard: "finds", row: guarded(table, write) };',
    replace: 'return { sql: table.hold, guard: "none", row: guarded(table, write) };',
    tests: ["test/adapters/storage/conformance.test.ts"],
  },
  {
    name: "memory-commit-is-half-done",
    sentence: "A test on the storage in memory sees the first rows of a commit that failed.",
    file: "adapters/storage/memory/storage.ts",
    find: "      for (const undo of undos.toReversed()) undo();\n",
    replace: "      for (const undo of undos.toReversed().slice(1)) undo();\n",
    tests: ["test/adapters/storage/conformance.test.ts"],
  },
  {
    name: "carrier-timeout-is-a-refusal",
    sentence:
      "A call to a carrier that times out counts as not sent, and the contact gets the message " +
      "twice.",
    file: "adapters/transport/carrier-api.ts",
    find: "  if (sent) return ambiguous(code);\n",
    replace: "",
    tests: [
      "test/adapters/transport/conformance.test.ts",
      "test/adapters/transport/hostile-carriers.test.ts",
    ],
  },
  {
    name: "carrier-error-500-is-a-refusal",
    sentence: "A carrier that answers 500 after it has sent the message is called again.",
    file: "adapters/transport/carrier-api.ts",
    find: "if (status < 400 || status >= 500 || status === 408) return ambiguous(`http_${status}`);",
    replace: "if (status < 400 || status === 408) return ambiguous(`http_${status}`);",
    tests: [
      "test/adapters/transport/conformance.test.ts",
      "test/adapters/transport/hostile-carriers.test.ts",
    ],
  },
  {
    name: "twilio-failure-is-ignored",
    sentence: "A message that failed at Twilio stays `sent`.",
    file: "adapters/transport/twilio/callbacks.ts",
    find: '    case "undelivered":\n    case "failed":\n',
    replace: '    case "undelivered":\n',
    tests: ["test/adapters/transport/statuses-and-errors.test.ts"],
  },
  {
    name: "webhook-reaches-the-metadata-service",
    sentence: "A webhook's URL can point at the cloud's metadata service and read its secrets.",
    file: "src/ports/destinations.ts",
    find: '"link-local": ["169.254.0.0/16", "fe80::/10"],',
    replace: '"link-local": ["fe80::/10"],',
    tests: ["test/ports/destinations.test.ts"],
  },
  {
    name: "callback-has-no-limit",
    sentence:
      "The limit of a callback is taken for kilobytes, so that anybody can fill the memory.",
    file: "adapters/transport/carrier-callbacks.ts",
    find: "if (body.length <= maxCallbackBytes) return;",
    replace: "if (body.length <= maxCallbackBytes * 1_024) return;",
    tests: ["test/adapters/transport/telnyx-signature.test.ts"],
  },
]);
