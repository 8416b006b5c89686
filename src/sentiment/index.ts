export { sentimentModule } from "./descriptor.ts";
export { sentimentChanged } from "./events.ts";
export { getContactSentiment } from "./get.ts";
export { onMessageScored } from "./hooks.ts";
export { messageScoreById, messageScores, pendingScores } from "./rows.ts";
export { scoreJob } from "./score-later.ts";
export { scoreMessages } from "./score-messages.ts";
