import * as z from "zod";
import { isWord, kindOf, memberOf, storable } from "../../../kernel/index.ts";
import { UnusableResult, type ModelAnswer, type ModelTurn } from "../../../ports/index.ts";
import { actionInput, whole } from "../../fields.ts";

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
const tokens = whole(0, 1e9).catch(0);
const usageSchema = z
  .object({ input_tokens: tokens, output_tokens: tokens })
  .optional()
  .catch(undefined);

/** An invalid field is dropped. The rest of the answer stays valid. */
const answerSchema = z.object({
  text: words(8_000).optional().catch(undefined),
  confidence: share.optional().catch(undefined),
  intent: words(200).optional().catch(undefined),
  playbook_id: z.string().max(64).optional().catch(undefined),
  slots: z.record(z.string(), actionInput).optional().catch(undefined),
  calls: first(maxCalls, z.object({ action: z.string().max(64), input: actionInput }))
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

interface ValidAnswer {
  readonly answer: ModelAnswer;
  /** The names of the fields that were dropped because they are wrong. */
  readonly wrongFields: readonly string[];
}

/**
 * Validates a model's answer, which comes from outside and may be anything. An empty list of calls
 * and a playbook that the turn does not offer are dropped: an answer with a text is then a reply.
 * @throws UnusableResult if it is not an object
 */
export function validateAnswer(
  answered: unknown,
  { playbooks }: Pick<ModelTurn, "playbooks">,
): ValidAnswer {
  const { success, data } = answerSchema.safeParse(answered);
  if (!success || typeof answered !== "object" || answered === null) {
    const got = kindOf(answered);
    throw new UnusableResult(
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
