import { z } from "zod";
import { type Action, action } from "../../src/ports/action.ts";

/** An action. By default, it only reads, can be called again, takes any input and does nothing. */
export function actionOf<Input = unknown>(
  given: Pick<Action<Input>, "name"> & Partial<Action<Input>>,
): Action {
  const defaults = {
    description: "Does what its name says.",
    input: z.unknown(),
    risk: "read",
    idempotent: true,
    execute: () => null,
  } as const;
  return action<Input>({ ...defaults, ...given } as Action<Input>);
}
