export { sentimentModule } from "./descriptor.ts";
export { sentimentChanged } from "./score-messages.ts";
export { onMessageScored, scoreJob } from "./hooks.ts";
export { messageScoreById, messageScores, pendingScores } from "./rows.ts";
