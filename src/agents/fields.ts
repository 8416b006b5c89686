/** Schemas that the settings of agents and playbooks share. */
import * as z from "zod";
import type { Json } from "../ports/index.ts";

/** Any JSON value. */
export const json: z.ZodType<Json> = z.json();

/** The name of an action or a slot, or the id of a step. */
export const identifier = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

export const atMost = (max: number): { readonly error: string } => ({
  error: `must have at most ${max} items`,
});
