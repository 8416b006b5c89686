/** A file of pure rules, and the tests that are about it. */
export interface RulesFile {
  readonly file: string;
  readonly tests: readonly string[];
}

/** The files whose every change a test must notice. */
export const rulesFiles: readonly RulesFile[] = [
  { file: "src/contacts/rules.ts", tests: ["test/contacts/rules.test.ts"] },
  { file: "src/conversations/rules.ts", tests: ["test/conversations/rules.test.ts"] },
  { file: "src/messages/rules.ts", tests: ["test/messages/rules.test.ts"] },
  {
    file: "src/messages/attempt-rules.ts",
    tests: ["test/messages/rules.test.ts"],
  },
  { file: "src/messages/route-rules.ts", tests: ["test/messages/choose-route.test.ts"] },
  { file: "src/webhooks/rules.ts", tests: ["test/webhooks/failing.test.ts"] },
  { file: "src/agents/hand-off-rules.ts", tests: ["test/agents/hand-offs.test.ts"] },
  { file: "src/agents/runs/rules.ts", tests: ["test/agents/runs.test.ts"] },
  { file: "src/agents/playbooks/rules.ts", tests: ["test/agents/playbooks/graph.test.ts"] },
];
