/** Schemas and limits that the types of playbooks share. */
import { z } from "zod";

export const playbookLimits = {
  steps: 100,
  slots: 50,
  options: 50,
  cases: 20,
  values: 50,
} as const;

/** The name of a slot or the id of a step. Conditions and templates refer to it. */
export const handle = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

export const atMost = (max: number): { readonly error: string } => ({
  error: `must have at most ${max} items`,
});
