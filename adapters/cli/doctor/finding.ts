/** What a check found. */
export interface Finding {
  /** `doubtful` may be as it should be. `wrong` keeps something from working. */
  readonly level: "good" | "doubtful" | "wrong";
  /** What was checked, in one word. */
  readonly topic: string;
  /** What was found. */
  readonly text: string;
  /** What to do, one sentence or command per line. */
  readonly advice?: readonly string[];
}
