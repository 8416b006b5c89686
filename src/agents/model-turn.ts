import type { ActionCall } from "./runs/types.ts";
import type { Json, ModelAction, ModelCall, ModelTask, ModelTurn } from "../ports/index.ts";
import type { TurnFacts } from "./facts.ts";
import { listOf, ruleFor } from "./hand-off-rules.ts";

const mostKnowledge = 8;

export interface Seeing {
  readonly facts: TurnFacts;
  readonly task: ModelTask;
  /** Whether it may start a playbook. */
  readonly isFree: boolean;
  /** Whether the calls that it asks for are made. */
  readonly acts: boolean;
  readonly actions: readonly ModelAction[];
  readonly calls: readonly ActionCall[];
  /** Takes what is nobody's business out of a text. */
  readonly redact: (text: string) => string;
}

/** What a model is shown of a turn. */
export function modelTurn({
  facts,
  task,
  isFree,
  acts,
  actions,
  calls,
  redact,
}: Seeing): ModelTurn {
  const { agent, channel, contact, heard, session, playbooks } = facts;
  const { name, persona, instructions, guidelines, reply } = agent;
  const options = isFree
    ? playbooks.map(({ id, definition }) => ({ id, ...optionOf(definition) }))
    : [];
  const intents = [
    ...options.flatMap((option) => option.intents),
    ...listOf(ruleFor(agent, "intent")?.value),
  ];
  const slots = session.frames.at(-1)?.slots;
  const shown = withEachText(redact);
  return {
    task: shownTask(task, redact),
    agent: {
      name,
      persona,
      instructions,
      guidelines: guidelines.toSorted((a, b) => b.priority - a.priority),
      reply: { mode: reply.mode, max_chars: reply.max_chars },
    },
    channel,
    contact: {
      name: contact.name === null ? null : redact(contact.name),
      language: contact.language,
      sentiment: contact.sentiment?.label ?? null,
    },
    messages: heard.messages.map((message) => ({ ...message, text: redact(message.text) })),
    unanswered: heard.unanswered,
    knowledge: facts.language.rankPassages(agent.knowledge, facts.said, mostKnowledge),
    playbooks: options,
    intents: [...new Set(intents)],
    slots:
      slots === undefined
        ? null
        : Object.fromEntries(Object.entries(slots).map(([key, value]) => [key, shown(value)])),
    actions: acts ? actions : [],
    calls: calls.flatMap((call) =>
      callOf({
        ...call,
        input: shown(call.input),
        output: shown(call.output),
        error: call.error === null ? null : redact(call.error),
      }),
    ),
    observations: facts.observations.map(redact),
  };
}

function shownTask(task: ModelTask, redact: Seeing["redact"]): ModelTask {
  if (task.type === "instruct") return { ...task, instruction: redact(task.instruction) };
  if (task.type === "extract") {
    return { ...task, slot: { ...task.slot, prompt: redact(task.slot.prompt) } };
  }
  return task;
}

/** Changes every text in a value. */
function withEachText(change: (text: string) => string): (value: Json) => Json {
  const changed = (value: Json): Json => {
    if (typeof value === "string") return change(value);
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map(changed);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each)]));
  };
  return changed;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function optionOf({ name, description, trigger }: TurnFacts["playbooks"][number]["definition"]) {
  return { name, description, intents: trigger.intents ?? [], when: trigger.when ?? null };
}

/** What of a call a model is told. One that is under way has no outcome yet, and nobody is asked before it has. */
function callOf({ id, action, input, status, output, error }: ActionCall): ModelCall[] {
  const call = { id, action, input };
  if (status === "done") return [{ ...call, outcome: { status, output } }];
  if (status === "awaiting_approval") return [{ ...call, outcome: { status } }];
  if (status === "failed" || status === "denied") {
    return [{ ...call, outcome: { status: "failed", error: error ?? status } }];
  }
  return [];
}
