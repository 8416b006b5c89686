import { z } from "zod";
import { storable } from "../kernel/index.ts";
import type { Json, ModelAnswer } from "../ports/index.ts";

/** Of one answer; what is beyond is dropped. */
const mostCalls = 8;
const mostObservations = 10;

const words = (max: number) => z.string().transform((text) => storable(text, max));
/** The first few of a list: those beyond are not even looked at. */
const first = <T extends z.ZodType>(most: number, item: T) =>
  z
    .array(z.unknown())
    .transform((items) => items.slice(0, most))
    .pipe(z.array(item));
const share = z.number().min(0).max(1);
const tokens = z.int().min(0).max(1e9).catch(0);
/** Of an input or a slot, as JSON. */
const mostCharacters = 16_384;
const json: z.ZodType<Json> = z
  .json()
  .refine((value) => JSON.stringify(value).length <= mostCharacters);

/** A part that is not as it should be is as good as none; the rest of the answer stands. */
const answerSchema = z.object({
  text: words(8_000).optional().catch(undefined),
  confidence: share.optional().catch(undefined),
  intent: words(200).optional().catch(undefined),
  playbook_id: z.string().max(64).optional().catch(undefined),
  slots: z.record(z.string(), json).optional().catch(undefined),
  calls: first(mostCalls, z.object({ action: z.string().max(64), input: json }))
    .optional()
    .catch(undefined),
  handoff: z
    .object({ reason: words(200), summary: words(2_000).optional() })
    .optional()
    .catch(undefined),
  observations: first(
    mostObservations,
    z.object({ content: words(2_000), kind: words(64), confidence: share.optional() }),
  )
    .transform((noticed) => noticed.filter(({ content }) => content.trim() !== ""))
    .optional()
    .catch(undefined),
  usage: z.object({ input_tokens: tokens, output_tokens: tokens }).optional().catch(undefined),
});

/**
 * What a model answered, as far as it is an answer: its author may not have been held to types, and what it says may be anything.
 * @throws TypeError when it is none
 */
export function soundAnswer(answered: unknown): ModelAnswer {
  const { success, data } = answerSchema.safeParse(answered);
  if (!success) throw new TypeError("the model answered nothing that is an answer");
  return data;
}
