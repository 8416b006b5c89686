import { kindOf } from "../../../kernel/index.ts";
import {
  UnusableResult,
  type Json,
  type ModelAction,
  type ModelCall,
  type ModelTask,
  type ModelTurn,
} from "../../../ports/index.ts";
import type { Permissions } from "../../moves.ts";
import { outcomeOf } from "../../runs/call-rules.ts";
import type { ActionCall } from "../../runs/types.ts";
import { wordsFor } from "../decision/handoff-rules.ts";
import type { TurnFacts } from "../turn-types.ts";

const maxKnowledge = 8;

interface ModelTurnInput extends Permissions {
  readonly facts: TurnFacts;
  readonly task: ModelTask;
  readonly actions: readonly ModelAction[];
  readonly calls: readonly ActionCall[];
  /** Removes private data from a text. */
  readonly redact: (text: string) => string;
}

/** Builds what the model sees of a turn. */
export function modelTurn({
  facts,
  task,
  mayStartPlaybook,
  mayCallActions,
  actions,
  calls,
  redact: given,
}: ModelTurnInput): ModelTurn {
  const redact = checkedRedact(given);
  const { agent, channel, contact, history, session, playbooks } = facts;
  const { name, persona, instructions, guidelines, reply } = agent;
  const options = mayStartPlaybook
    ? playbooks.map(({ id, definition }) => ({ id, ...optionOf(definition) }))
    : [];
  const intents = [...options.flatMap((option) => option.intents), ...wordsFor(agent, "intent")];
  const slots = session.frames.at(-1)?.slots;
  const redactJson = withEachText(redact);
  return {
    task: redactTask(task, redact),
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
      time_zone: contact.time_zone,
      sentiment: contact.sentiment?.label ?? null,
    },
    messages: history.messages.map((message) => ({ ...message, text: redact(message.text) })),
    unanswered: history.unanswered,
    knowledge: facts.language.rankPassages(agent.knowledge, facts.contactText, maxKnowledge),
    playbooks: options,
    intents: [...new Set(intents)],
    slots:
      slots === undefined
        ? null
        : Object.fromEntries(Object.entries(slots).map(([key, value]) => [key, redactJson(value)])),
    actions: mayCallActions ? actions : [],
    calls: calls.flatMap((call) =>
      modelCall({
        ...call,
        input: redactJson(call.input),
        output: redactJson(call.output),
        error: call.error === null ? null : redact(call.error),
      }),
    ),
    observations: facts.observations.map(redact),
  };
}

/**
 * Returns a function that calls `redact` and checks the result. An async `redact`, for example,
 * would put promises in place of the contact's words. The function throws `UnusableResult` if
 * `redact` does not return a string.
 */
function checkedRedact(redact: ModelTurnInput["redact"]): ModelTurnInput["redact"] {
  return (text) => {
    const redacted: unknown = redact(text);
    if (typeof redacted === "string") return redacted;
    // An unhandled rejection would end the process.
    void Promise.resolve(redacted).catch(() => undefined);
    throw new UnusableResult(`agents.redact must return a string, got ${kindOf(redacted)}`);
  };
}

function redactTask(task: ModelTask, redact: ModelTurnInput["redact"]): ModelTask {
  if (task.type === "instruct") return { ...task, instruction: redact(task.instruction) };
  if (task.type === "extract") {
    return { ...task, slot: { ...task.slot, prompt: redact(task.slot.prompt) } };
  }
  return task;
}

/** Applies a change to every string in a value, also to the names of members. */
function withEachText(change: (text: string) => string): (value: Json) => Json {
  const changed = (value: Json): Json => {
    if (typeof value === "string") return change(value);
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map(changed);
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([name, each]) => [change(name), changed(each)]));
  };
  return changed;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function optionOf({ name, description, trigger }: TurnFacts["playbooks"][number]["definition"]) {
  return { name, description, intents: trigger.intents ?? [], when: trigger.when ?? null };
}

/** Returns a call as the model sees it. A call without an outcome is left out. */
function modelCall(call: ActionCall): ModelCall[] {
  const { id, action, input } = call;
  const outcome = outcomeOf(call);
  return outcome === undefined ? [] : [{ id, action, input, outcome }];
}
