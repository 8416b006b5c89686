/** Scores the sentiment of a text. */
export interface SentimentAnalyzer {
  /**
   * Returns a score from -1 (very negative) to 1 (very positive), or null if the text shows no
   * sentiment. A job calls it, one message at a time per contact. The engine treats a call that
   * takes longer than two seconds, a result that is not such a number, and an exception as null.
   */
  score(text: string): number | null | Promise<number | null>;
}

/**
 * The analyzer's name among the remotes of jobs. It contains a space, so no transport can have it.
 */
export const analyzerName = "sentiment analyzer";
