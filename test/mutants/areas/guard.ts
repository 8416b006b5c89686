import { inArea } from "../mutant.ts";

/** What keeps a transaction from building on rows that have changed. */
export const guard = inArea("guard", [
  {
    name: "holds-are-not-committed",
    sentence:
      "A row that was only read is not guarded, so that a decision counts which was true before " +
      "another commit.",
    file: "src/store/transactions/overlay.ts",
    find: "      ...holds,\n",
    replace: "",
    tests: ["test/store/serializability.test.ts"],
  },
  {
    name: "removed-row-is-not-guarded",
    sentence: "A removal wins over a change that it has not seen, and the change is lost.",
    file: "adapters/storage/memory/table.ts",
    find: "return this.#remove(this.#findGuarded(write.key, write.version));",
    replace:
      "{\n        const cell = this.#primary.first(storedKey(write.key));\n" +
      "        return cell === undefined ? () => {} : this.#remove(cell);\n      }",
    tests: ["test/adapters/storage/conformance.test.ts"],
  },
  {
    name: "version-does-not-grow",
    sentence:
      "An update keeps the version of its row, so that two engines can both change the row and " +
      "one change is lost.",
    file: "src/store/transactions/buffered-tx.ts",
    find: "version: base === undefined ? seen.version : base.version + 1",
    replace: "version: seen.version",
    tests: ["test/store/serializability.test.ts"],
  },
  {
    name: "removal-is-no-write",
    sentence: "A command changes a row that an earlier one of its group removed, and it is back.",
    file: "src/store/transactions/touched-rows.ts",
    find: "const isWritten = ({ base, row }: Entry): boolean => row !== base;",
    replace:
      "const isWritten = ({ base, row }: Entry): boolean => row !== undefined && row !== base;",
    tests: ["test/store/serializability.test.ts"],
  },
  {
    name: "failed-attempt-keeps-events",
    sentence: "A refused command still publishes the events of what it did not do.",
    file: "src/store/transactions/buffered-tx.ts",
    find: "      this.#insertions.length = length;\n",
    replace: "",
    tests: ["test/store/transactions/attempt.test.ts"],
  },
  {
    name: "message-under-way-is-canceled",
    sentence:
      "A message that is being sent can be canceled, so that the API says `canceled` and the " +
      "contact gets it.",
    file: "src/messages/rules.ts",
    find: 'if (!isWaiting(state)) return { decision: "refused", status: state.status };',
    replace:
      'if (!isWaiting(state) && state.status !== "sending") {\n' +
      '    return { decision: "refused", status: state.status };\n  }',
    tests: ["test/messages/rules.test.ts"],
  },
  {
    name: "redaction-of-a-queued-message",
    sentence: "A queued message can be redacted, and the contact gets an empty text.",
    file: "src/privacy/redact.ts",
    find: '      message.status === "queued" ||\n',
    replace: "",
    tests: ["test/privacy/redaction-races.test.ts", "test/messages/messages.test.ts"],
  },
  {
    name: "idempotency-key-ignores-input",
    sentence:
      "A second request under a used key gets the first response although its input differs, so " +
      "that a message is never sent.",
    file: "src/operations/execution/idempotency.ts",
    find: "  if (row.fingerprint !== fingerprint) throw keyReused();\n",
    replace: "",
    tests: ["test/operations/idempotency.test.ts"],
  },
  {
    name: "rerun-joins-running-group",
    sentence:
      "A command that runs again after a conflict joins a group which has begun without the " +
      "storage's lock, so that it fails again and again under load.",
    file: "src/store/groups/command-queue.ts",
    find: "if (hasAgain && !runsAgain) return;",
    replace: "",
    tests: ["test/store/groups/command-queue.test.ts"],
  },
]);
