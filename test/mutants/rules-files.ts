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
  {
    file: "src/messages/rules.ts",
    tests: [
      "test/messages/rules.test.ts",
      "test/messages/waiting-rules.test.ts",
      "test/messages/outcome.test.ts",
    ],
    equivalents: [
      { from: "send_at === null", to: "false", why: "Null counts as 0, which is in the past." },
    ],
  },
  {
    file: "src/messages/attempts/carrier-reports.ts",
    tests: ["test/messages/carrier-reports.test.ts", "test/messages/outcome.test.ts"],
  },
  {
    file: "src/messages/attempts/outcome.ts",
    tests: ["test/messages/outcome.test.ts"],
    equivalents: [
      { from: "last?.outcome", to: "last.outcome", why: "There is an attempt." },
      { from: "last?.error", to: "last.error", why: "There is an attempt." },
      { from: "send_at !== null", to: "true", why: "Null counts as 0, which is in the past." },
    ],
  },
  { file: "src/messages/attempts/next-attempt.ts", tests: ["test/messages/outcome.test.ts"] },
  {
    file: "src/messages/routes/route-rules.ts",
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
  {
    file: "src/webhooks/deliveries/delivery-rules.ts",
    tests: ["test/webhooks/delivery-rules.test.ts"],
  },
  {
    file: "src/agents/turns/decision/handoff-rules.ts",
    tests: ["test/agents/turns/decision/handoff-rules.test.ts"],
    equivalents: [
      {
        from: "lowestScore !== null",
        to: "true",
        why: "Null counts as 0, which is not negative.",
      },
      {
        from: "default:\n      return undefined;",
        to: "default:",
        why: "The function ends there, so it returns undefined.",
      },
      {
        from: "[]",
        to: '["Stryker was here"]',
        why: "No contact writes this.",
      },
    ],
  },
  {
    file: "src/agents/turns/decision/loop-guard.ts",
    tests: ["test/agents/turns/decision/loop-guard.test.ts"],
  },
  {
    file: "src/agents/moves.ts",
    tests: ["test/agents/moves.test.ts"],
  },
  {
    file: "src/agents/runs/rules.ts",
    tests: ["test/agents/runs/run-rules.test.ts"],
    equivalents: [
      {
        from: "place < last",
        to: "place <= last",
        why: "The last approval is no playbook's step.",
      },
      {
        from: "steps.length <= maxKeptSteps",
        to: "false",
        why: "What follows keeps so few steps as well.",
      },
      {
        from: "steps.length <= maxKeptSteps",
        to: "steps.length < maxKeptSteps",
        why: "What follows keeps so few steps as well.",
      },
    ],
  },
  {
    file: "src/agents/runs/call-rules.ts",
    tests: ["test/agents/runs/call-rules.test.ts"],
    equivalents: [
      {
        from: "default:\n      return undefined;",
        to: "default:",
        why: "The function ends there, so it returns undefined.",
      },
    ],
  },
  {
    file: "src/agents/runs/redaction-rules.ts",
    tests: ["test/agents/runs/redaction-rules.test.ts"],
  },
  {
    file: "src/agents/playbooks/definition.ts",
    tests: ["test/agents/playbooks/definition.test.ts"],
  },
  {
    file: "src/agents/playbooks/play/trigger-rules.ts",
    tests: ["test/agents/playbooks/trigger-rules.test.ts"],
  },
  {
    file: "src/agents/playbooks/graph-rules.ts",
    tests: ["test/agents/playbooks/graph-problems.test.ts", "test/agents/playbooks/graph.test.ts"],
    equivalents: [
      { from: '""', to: '"Stryker was here!"', why: "Every place in a list has a name." },
      { from: "steps[place]?.id", to: "steps[place].id", why: "The place is one of the steps." },
      {
        from: "slots[place]?.name",
        to: "slots[place].name",
        why: "The place is one of the slots.",
      },
      { from: "[]", to: '["Stryker was here"]', why: "Nothing has this id or this place." },
      { from: 'step.type === "ask"', to: "true", why: "Only an ask step has `on_fail`." },
      { from: 'step.type === "run"', to: "true", why: "Only a run step has `on_error`." },
      ...[
        { from: "step === undefined", to: "false" },
        { from: "place + 1 < steps.length", to: "true" },
        { from: "place + 1 < steps.length", to: "place + 1 <= steps.length" },
        { from: "place + 1", to: "place - 1" },
        { from: "named.filter(({ to }) => to !== -1)", to: "named" },
        { from: "to !== -1", to: "true" },
        {
          from: "[0, onCancel].filter((place) => place in definition.steps)",
          to: "[0, onCancel]",
        },
        { from: "definition.steps[place]?.type", to: "definition.steps[place].type" },
      ].map((each) => ({
        ...each,
        why: "A place without a step leads nowhere, and such places are left out beforehand.",
      })),
    ],
  },
  {
    file: "src/privacy/merge-rules.ts",
    tests: ["test/privacy/merge-rules.test.ts"],
  },
];
