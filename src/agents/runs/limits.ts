/** The limits of runs, and of what the turns of runs read. */

/** The maximum number of steps that are kept of a run. */
export const maxSteps = 200;

/** The maximum number of open runs of a conversation that are read at once. */
export const maxOpenRuns = 50;

/**
 * The maximum number of messages of a conversation that a turn reads as its history. A redaction
 * relies on it: a run does not quote earlier ones (`mayQuote`).
 */
export const maxHistory = 30;

/** The maximum number of messages that one turn answers. If there are more, it reads the last. */
export const maxUnanswered = 50;
