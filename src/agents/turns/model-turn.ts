import { wordsFor } from "../hand-off-rules.ts";
import type { Permissions } from "../runs/moves.ts";
import type { ActionCall } from "../runs/types.ts";
import type { TurnFacts } from "./turn-types.ts";
import { isWord, kindOf, memberOf, storable } from "../../kernel/index.ts";
import type {
  Json,
  ModelAction,
  ModelAnswer,
  ModelCall,
  ModelTask,
  ModelTurn,
} from "../../ports/index.ts";
import * as z from "zod";

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
  redact,
}: ModelTurnInput): ModelTurn {
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

function redactTask(task: ModelTask, redact: ModelTurnInput["redact"]): ModelTask {
  if (task.type === "instruct") return { ...task, instruction: redact(task.instruction) };
  if (task.type === "extract") {
    return { ...task, slot: { ...task.slot, prompt: redact(task.slot.prompt) } };
  }
  return task;
}

/** Applies a change to every string in a value. */
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

/** Returns a call as the model sees it. A call without an outcome is left out. */
function modelCall({ id, action, input, status, output, error }: ActionCall): ModelCall[] {
  const call = { id, action, input };
  if (status === "done") return [{ ...call, outcome: { status, output } }];
  if (status === "awaiting_approval") return [{ ...call, outcome: { status } }];
  if (status === "failed" || status === "denied") {
    return [{ ...call, outcome: { status: "failed", error: error ?? status } }];
  }
  return [];
}

/** Limits of one answer. Further items are dropped. */
const maxCalls = 8;
const maxObservations = 10;

const words = (max: number) => z.string().transform((text) => storable(text, max));
/** Keeps the first items of a list. The rest is not validated. */
const first = <T extends z.ZodType>(most: number, item: T) =>
  z
    .array(z.unknown())
    .transform((items) => items.slice(0, most))
    .pipe(z.array(item));
const share = z.number().min(0).max(1);
const tokens = z.int().min(0).max(1e9).catch(0);
const usageSchema = z
  .object({ input_tokens: tokens, output_tokens: tokens })
  .optional()
  .catch(undefined);
/** Characters of an input or a slot value as JSON. */
const maxCharacters = 16_384;
const json: z.ZodType<Json> = z
  .json()
  .refine((value) => JSON.stringify(value).length <= maxCharacters);

/** An invalid field is dropped. The rest of the answer stays valid. */
const answerSchema = z.object({
  text: words(8_000).optional().catch(undefined),
  confidence: share.optional().catch(undefined),
  intent: words(200).optional().catch(undefined),
  playbook_id: z.string().max(64).optional().catch(undefined),
  slots: z.record(z.string(), json).optional().catch(undefined),
  calls: first(maxCalls, z.object({ action: z.string().max(64), input: json }))
    .optional()
    .catch(undefined),
  handoff: z
    .object({ reason: words(200), summary: words(2_000).optional() })
    .optional()
    .catch(undefined),
  observations: first(
    maxObservations,
    z.object({ content: words(2_000), kind: words(64), confidence: share.optional() }),
  )
    .transform((noticed) =>
      noticed.filter(({ content, kind }) => content.trim() !== "" && kind.trim() !== ""),
    )
    .optional()
    .catch(undefined),
  usage: usageSchema,
});

const forms: Readonly<Record<keyof ModelAnswer, string>> = {
  text: "text",
  confidence: "confidence (0 to 1)",
  intent: "intent",
  playbook_id: "playbook_id",
  slots: "slots: { [name]: value }",
  calls: "calls: [{ action, input }]",
  handoff: "handoff: { reason, summary }",
  observations: "observations: [{ content, kind, confidence }]",
  usage: "usage: { input_tokens, output_tokens }",
};

/** The form of an answer, for the log. */
export const answerForm = `{ ${Object.values(forms).join(", ")} }`;

/** A model returned something that is no answer. The message quotes nothing of it. */
export class UnusableAnswer extends Error {
  override readonly name = "UnusableAnswer";
}

interface ValidAnswer {
  readonly answer: ModelAnswer;
  /** The names of the fields that were dropped because they are wrong. */
  readonly wrongFields: readonly string[];
}

/**
 * Validates a model's answer, which comes from outside and may be anything. An empty list of calls
 * and a playbook that the turn does not offer are dropped: an answer with a text is then a reply.
 * @throws UnusableAnswer if it is not an object
 */
export function validateAnswer(
  answered: unknown,
  { playbooks }: Pick<ModelTurn, "playbooks">,
): ValidAnswer {
  const { success, data } = answerSchema.safeParse(answered);
  if (!success || typeof answered !== "object" || answered === null) {
    const got = kindOf(answered);
    throw new UnusableAnswer(
      `the model must return an object with fields of ${answerForm}, got ${got}`,
    );
  }
  const isOffered = playbooks.some(({ id }) => id === data.playbook_id);
  const answer = {
    ...data,
    calls: data.calls?.length === 0 ? undefined : data.calls,
    playbook_id: isOffered ? data.playbook_id : undefined,
  };
  return { answer, wrongFields: wrongFields(answered, data) };
}

/** Returns the tokens that a failed call of a model took, if its error has them. */
export function usageOf(error: unknown): ModelAnswer["usage"] {
  try {
    return usageSchema.parse(memberOf(error, "usage"));
  } catch {
    // A model can throw anything, also an object whose fields cannot be read.
    return undefined;
  }
}

/** The maximum number of wrong fields that are named. */
const maxNames = 10;

/**
 * Names the fields of an answer that are not among the valid ones. Null counts as absent. An
 * unknown field is a mistake only if the valid ones say nothing.
 */
function wrongFields(answered: object, valid: z.infer<typeof answerSchema>): readonly string[] {
  const { confidence: _, usage, ...content } = valid;
  const isEmpty = Object.values(content).every((value) => value === undefined);
  const wrong = Object.entries(answered).flatMap(([name, value]) => {
    if (value === undefined || value === null || memberOf(valid, name) !== undefined) return [];
    return isEmpty || name in answerSchema.shape ? [name] : [];
  });
  const given = memberOf(answered, "usage");
  const counts = Object.entries(usage ?? {}).flatMap(([name, count]) =>
    memberOf(given, name) === count ? [] : [`usage.${name}`],
  );
  // The name of an unknown field may be a text that somebody wrote.
  const names = wrong.map((name) => (isWord(name) ? name : "a field whose name is no word"));
  return [...new Set([...names, ...counts])].slice(0, maxNames);
}
