/** The limits of runs, and of what the turns of runs read. */

/** The maximum number of steps that are kept of a run. */
export const maxKeptSteps = 200;

/** The maximum number of open runs of a conversation that are read at once. */
export const maxOpenRuns = 50;

/** The maximum number of messages of a conversation that a turn has as its history. */
export const maxHistory = 30;

/**
 * The maximum number of messages of a conversation that a turn reads to find its history: those
 * that were not sent do not count. A redaction relies on it: a run in progress has read no earlier
 * ones (`mayQuote`).
 */
export const maxReadForHistory = 1_000;

/** The maximum number of messages that one turn answers. If there are more, it reads the last. */
export const maxUnanswered = 50;
