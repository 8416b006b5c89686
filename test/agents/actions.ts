import { z } from "zod";
import { action, type Action } from "../../src/host/actions.ts";

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

/** An action that returns its input. */
export function lookUp(risk: "read" | "approval" = "read", done: unknown[] = []) {
  return actionOf({
    name: "look_up",
    input: z.looseObject({}),
    risk,
    execute: (input) => {
      done.push(input);
      return { found: JSON.stringify(input) };
    },
  });
}
