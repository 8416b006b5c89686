import type { Story } from "./story.ts";
import type { Finding } from "./types.ts";

/** The error that a law is broken. Its message has the story. */
export class Violation extends Error {
  /** `Violation`. */
  override readonly name = "Violation";
  /** The name of the law. */
  readonly law: string;
  /** What is wrong. */
  readonly finding: Finding;

  /** @internal */
  constructor(law: string, found: Finding | string, story: Story, cause?: unknown) {
    const finding = typeof found === "string" ? { description: found } : found;
    const { description, about } = finding;
    const lines = story.tell(about === undefined ? {} : { about });
    super(
      `${law === "" ? "" : `${law}: `}${description}\nWhat happened:\n${lines}`,
      cause === undefined ? undefined : { cause },
    );
    this.law = law;
    this.finding = finding;
  }
}
