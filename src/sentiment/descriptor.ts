import { contactSentimentSchema } from "../contacts/index.ts";
import { queryById, type ApiRoute, type Module, type Runtime } from "../operations/index.ts";
import type { JobTable } from "../queue/index.ts";
import { getContactSentiment } from "./reads.ts";
import { messageScores } from "./rows.ts";
import { scoreMessages, sentimentHookHandlers } from "./score-messages.ts";

const sentimentRoutes: readonly ApiRoute[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/sentiment",
    operation: getContactSentiment,
    summary: "Get a contact's sentiment",
    description:
      "Returns the contact's current sentiment, its trend, and the scores of up to 20 of its " +
      "messages, newest first.",
    response: contactSentimentSchema,
  },
];

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
