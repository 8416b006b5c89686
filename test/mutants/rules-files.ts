/** A file of pure rules, and the files that test it. */
export interface RulesFile {
  readonly file: string;
  readonly tests: readonly string[];
  /** Changes that no test can notice. */
  readonly equivalents?: readonly Equivalent[];
}

/** A change of the code that does not change what it does. */
export interface Equivalent {
  /** The code that is replaced. */
  readonly from: string;
  readonly to: string;
  /** Why it has no effect. */
  readonly why: string;
}

/** The files in which a test must notice every change. */
export const rulesFiles: readonly RulesFile[] = [
  {
    file: "src/contacts/rules.ts",
    tests: ["test/contacts/rules.test.ts"],
    equivalents: [
      {
        from: "error instanceof RangeError",
        to: "true",
        why: "For a text, `getCanonicalLocales` throws no other error.",
      },
    ],
  },
  {
    file: "src/conversations/rules.ts",
    tests: ["test/conversations/rules.test.ts"],
    equivalents: [
      {
        from: 'before.status === "closed"',
        to: "true",
        why: "Only a closed conversation is replaced by another, so `current` says it already.",
      },
    ],
  },
  { file: "src/messages/rules.ts", tests: ["test/messages/rules.test.ts"] },
  {
    file: "src/messages/attempt-rules.ts",
    tests: ["test/messages/attempt-rules.test.ts", "test/messages/rules.test.ts"],
  },
  {
    file: "src/messages/route-rules.ts",
    tests: ["test/messages/choose-route.test.ts"],
    equivalents: [
      { from: '""', to: '"Stryker was here!"', why: "No transport has either name." },
      {
        from: "transports.slice(0, last + 1)",
        to: "transports",
        why: "A transport that is named a second time is due at the same time, and the first wins.",
      },
    ],
  },
  {
    file: "src/webhooks/rules.ts",
    tests: ["test/webhooks/rules.test.ts", "test/webhooks/failing.test.ts"],
  },
  { file: "src/agents/hand-off-rules.ts", tests: ["test/agents/hand-offs.test.ts"] },
  { file: "src/agents/runs/rules.ts", tests: ["test/agents/runs.test.ts"] },
  { file: "src/agents/playbooks/rules.ts", tests: ["test/agents/playbooks/graph.test.ts"] },
];
