import type { Json, ModelAnswer, ModelCall, ModelTask } from "../../ports/agent-model.ts";
import type { Moves } from "./types.ts";

/** @throws TypeError when something else was given: whoever runs a turn gives what was asked for */
export function* act(action: string, input: Json): Moves<ModelCall["outcome"]> {
  const given = yield { do: "act", action, input };
  if (given.done !== "acted") throw new TypeError("an action was asked for, and something else was given");
  return given.outcome;
}

export function* think(task: ModelTask): Moves<ModelAnswer | null> {
  const given = yield { do: "think", task };
  if (given.done !== "thought") throw new TypeError("an answer was asked for, and something else was given");
  return given.answer;
}
