/** The steps of a request over HTTP, and the CPU time that a profile of the process finds in each. */
import type { Profiler } from "node:inspector";

/** The CPU time of each step, in microseconds. */
export type StepTimes = Readonly<Record<string, number>>;

/**
 * Each step, with a pattern for the functions that belong to it: name, space, file. The first
 * pattern that matches counts. A sample belongs to the innermost function that matches one, so what
 * Node does for a step counts for that step. The rest is Node's own.
 */
const steps: readonly (readonly [string, RegExp])[] = [
  ["garbage collection", /^\(garbage collector\)/],
  ["kernel and libuv", /^\(program\)/],
  ["rate limit", /rate-limiter\.ts|^(?:rateLimitHeaders|refuseOverLimit) /],
  ["authentication", /\/accounts\/keys\/|\/api\/authentication\.ts/],
  ["reading the body", /^(?:body|readArrived|readAll|on[A-Z]\w+|settle) .*\/node-request\.ts/],
  ["parsing", /\/api\/requests\/(?:request-body|idempotency-key|url-parameters)\.ts/],
  ["validation", /\/kernel\/validation\.ts|\/zod\/|\/api\/requests\/inputs\.ts/],
  ["fingerprint", /\/execution\/fingerprint\.ts/],
  ["response", /^(?:send|end|closesTooEarly) .*\/node-response\.ts/],
  ["routing", /\/api\/router\.ts|\/adapters\/http\//],
  ["handler", /\/src\/api\//],
  ["transaction and storage", /\/src\/store\/|\/adapters\/storage\//],
  ["command", /\/src\//],
  ["Express", /\/node_modules\/(?:express|router|parseurl|debug)\//],
];
const ofNode = "node:http";
/** Waiting, and the profiler itself. */
const uncounted = /^\(idle\)|^post node:inspector/;

/** Adds up the samples of a profile by step. */
export function stepTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): StepTimes {
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const ownSteps = new Map<number, string | undefined>(
    nodes.map(({ id, callFrame: { functionName, url } }) => {
      const name = `${functionName === "" ? "(anonymous)" : functionName} ${url}`;
      return [id, uncounted.test(name) ? "" : steps.find(([, of]) => of.test(name))?.[0]];
    }),
  );
  const times: Record<string, number> = {};
  for (const [i, sample] of samples.entries()) {
    let at: number | undefined = sample;
    while (at !== undefined && ownSteps.get(at) === undefined) at = callers.get(at);
    const step = (at === undefined ? undefined : ownSteps.get(at)) ?? ofNode;
    if (step !== "") times[step] = (times[step] ?? 0) + (timeDeltas[i] ?? 0);
  }
  return times;
}
