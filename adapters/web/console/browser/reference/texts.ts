import type { Texts } from "../../../shared/browser/index.ts";

/** The texts of the reference of the API. */
export const referenceTexts = {
  reference: "API",
  referenceAbout: "Every endpoint, with a form to try it. Requests change this account for real.",
  endpoints: "Endpoints",
  endpointsFind: "Find",
  endpointsFindHint: "Path or words",
  endpointsNone: "No endpoint matches.",
  endpointNone: "No endpoint selected",
  endpointNoneHint: "Choose an endpoint to read about it and to call it.",
  endpointStream: "This is a stream. The page Events shows the stream of events.",
  endpointOther: "This endpoint is for visitors or carriers. The console cannot call it.",
  bodyInvalid: "This is not JSON: {reason}",
} satisfies Texts;
