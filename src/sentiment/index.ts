export { sentimentChanged, type SentimentChangedData } from "./events.ts";
export { onMessageScored, scoreJob } from "./score-messages.ts";
export { messageScoreById, messageScores, pendingScores } from "./rows.ts";
