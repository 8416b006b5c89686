import { openWebchatSession } from "./sessions.ts";
import type { OpenWebchatSession } from "./types.ts";
import { type CommandOptions, method } from "../operations/index.ts";

export const webchatHandles = {
  webchat: {
    open: method(
      ({ change }) =>
        (input: OpenWebchatSession = {}, options?: CommandOptions) =>
          change(openWebchatSession, input, options),
    ),
  },
};
