export { sentimentModule } from "./descriptor.ts";
export { sentimentChanged, type SentimentChangedData } from "./events.ts";
export { getContactSentiment } from "./reads.ts";
export { onMessageScored, scoreJob } from "./hooks.ts";
export { messageScoreById, messageScores, pendingScores } from "./rows.ts";
