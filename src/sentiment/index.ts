export { sentimentChanged, type SentimentChangedData } from "./events.ts";
export { onMessageScored, scoreJob } from "./hooks.ts";
export { messageScoreById, messageScores, pendingScores } from "./rows.ts";
