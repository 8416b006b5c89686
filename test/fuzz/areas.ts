import type { Area } from "./area.ts";
import { callbacksArea } from "./callbacks-area.ts";
import { httpArea } from "./http-area.ts";
import { modelsArea } from "./models-area.ts";
import { streamsArea } from "./streams-area.ts";
import { webhooksArea } from "./webhooks-area.ts";

/** What the fuzzer tries, in this order. */
export const areas: readonly Area[] = [
  httpArea,
  callbacksArea,
  webhooksArea,
  modelsArea,
  streamsArea,
];
