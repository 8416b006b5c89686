import { inArea } from "../mutant.ts";

/** One account, mode, operator or visitor sees or changes what belongs to another. */
export const scope = inArea("scope", [
  {
    name: "other-account-reads-by-id",
    sentence: "An account that knows the id of another account's message can cancel it.",
    file: "src/store/transactions/scoped-tx.ts",
    find: "fullKey(this.scope, index, key), options, this.scope);",
    replace: "fullKey(this.scope, index, key), options);",
    tests: ["test/store/transactions/scoped.test.ts"],
  },
  {
    name: "mode-is-not-checked",
    sentence: "A sandbox key reads and changes live rows of its account.",
    file: "src/store/transactions/scoped-tx.ts",
    find: "return row.account_id === account_id && row.mode === mode;",
    replace: "return row.account_id === account_id || row.mode === mode;",
    tests: ["test/store/transactions/scoped.test.ts"],
  },
  {
    name: "cursor-of-another-account",
    sentence: "A cursor of one account works in another, and shows where its rows begin.",
    file: "src/operations/lists/pagination.ts",
    find: "    scope.account_id,\n    scope.mode,\n    index.name,",
    replace: "    index.name,",
    tests: ["test/operations/lists.test.ts"],
  },
  {
    name: "visitors-share-keys",
    sentence:
      "Two visitors whose browsers chose the same idempotency key get each other's messages back.",
    file: "src/operations/execution/idempotency-key.ts",
    find: "return `visitor ${caller.session_id} ${key}`;",
    replace: "return `visitor ${key}`;",
    tests: ["test/operations/idempotency-key.test.ts"],
  },
  {
    name: "webhook-gets-other-scopes-events",
    sentence: "A webhook gets the events of every account that wrote in the same transaction.",
    file: "src/webhooks/deliveries/fan-out.ts",
    find: "await writeDeliveries(scoped, rowsInScope(scoped.scope, left));",
    replace: "await writeDeliveries(scoped, left);",
    tests: ["test/webhooks/fan-out.test.ts"],
  },
  {
    name: "key-needs-any-scope",
    sentence: "An API key that may only read can also send, because one of its scopes suffices.",
    file: "src/api/authentication.ts",
    find: "if (missing.length === 0) return;\n  const lacking",
    replace: "if (scopesOf(caller).length > 0) return;\n  const lacking",
    tests: ["test/security/api5-function-level-authorization.test.ts"],
  },
]);
