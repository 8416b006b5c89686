/** What a check found. */
export interface Finding {
  /** `doubtful` may be a problem, or may be intended. `wrong` keeps something from working. */
  readonly level: "good" | "doubtful" | "wrong";
  /** What was checked, in one word. */
  readonly topic: string;
  /** What was found. */
  readonly text: string;
  /** What to do, one sentence or command per line. */
  readonly advice?: readonly string[];
}
