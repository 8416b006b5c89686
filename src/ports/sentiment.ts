/** Tells how a text sounds. */
export interface SentimentAnalyzer {
  /**
   * From -1, very negative, to 1, very positive; null where there is nothing to tell by. Called by a job, one message at a time for each
   * contact; an answer after two seconds, one that is no such number, and a throw count as null.
   */
  score(text: string): number | null | Promise<number | null>;
}

/** What the analyzer goes by among the far sides that jobs talk to. No transport can have this name: it has a space in it. */
export const analyzerName = "sentiment analyzer";
