import { messageScores } from "./rows.ts";
import { sentimentRoutes } from "./routes.ts";
import { sentimentHookHandlers } from "./hooks.ts";
import { scoreMessages } from "./score-messages.ts";
import { type Module, queryById, type Runtime } from "../operations/index.ts";
import type { JobTable } from "../queue/index.ts";
import { getContactSentiment } from "./reads.ts";

const sentimentHandles = {
  contacts: {
    sentiment: queryById(getContactSentiment),
  },
};

const jobs: Pick<JobTable<Runtime>, "score"> = { score: scoreMessages };

export const sentimentModule: Module<typeof jobs, typeof sentimentHandles> = {
  collections: [messageScores],
  jobs,
  routes: sentimentRoutes,
  handles: sentimentHandles,
  hookHandlers: sentimentHookHandlers,
};
