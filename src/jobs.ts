import type { JobHandlers, JobTable } from "./queue/job.ts";
import type { JobKind } from "./queue/types.ts";
import type { EngineRuntime } from "./work.ts";
import { agentJobs } from "./agents/jobs.ts";
import { callConsumer } from "./events/call-consumer.ts";
import { contactJobs } from "./privacy/jobs.ts";
import { conversationJobs } from "./conversations/jobs.ts";
import { messageJobs } from "./messages/jobs.ts";
import { reap } from "./privacy/reap-job.ts";
import { scoreMessages } from "./sentiment/score-messages.ts";
import { webhookJobs } from "./webhooks/jobs.ts";

/** Every kind of job, with what does its work. */
const jobTable: JobTable<EngineRuntime> = {
  ...messageJobs,
  ...conversationJobs,
  ...contactJobs,
  ...webhookJobs,
  ...agentJobs,
  score: scoreMessages,
  consume: callConsumer,
  reap,
};

/** The handlers of one engine. */
export function jobHandlers(runtime: EngineRuntime): JobHandlers {
  const handlers = Object.entries(jobTable).map(([kind, define]) => [kind, define(runtime)]);
  return Object.fromEntries(handlers) as { [K in JobKind]: JobHandlers[K] };
}
