/** The code in a Markdown document, as programs. */
import { readFileSync } from "node:fs";

export interface Sample {
  /** Of the document and the program's first line in it. */
  readonly name: string;
  readonly code: string;
  /** What the document says that it prints. */
  readonly output: string;
  /** The page that it serves out of `public`; empty where the document has none. */
  readonly page: string;
}

interface Block {
  readonly language: string;
  readonly content: string;
  readonly line: number;
}

/**
 * A block that makes an engine begins a program, and the blocks after it go on with it. A block of `text` right after one of
 * code is what the program prints there, and one of `html` the page that it serves.
 */
export function samplesOf(document: string): Sample[] {
  const samples: { name: string; code: string; output: string; page: string }[] = [];
  for (const { language, content, line } of blocksOf(readFileSync(document, "utf8"))) {
    if (language === "ts" && content.includes("new MessagingEngine(")) {
      samples.push({ name: `${document}:${line}`, code: content, output: "", page: "" });
      continue;
    }
    const current = samples.at(-1);
    if (current === undefined) {
      if (language === "ts") {
        throw new Error(`${document}:${line}: no engine has been made here yet`);
      }
    } else if (language === "ts") current.code += content;
    else if (language === "text") current.output += content;
    else if (language === "html") current.page = content;
  }
  return samples;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(
    ({ index, 1: language = "", 2: content = "" }) => ({
      language,
      content,
      line: markdown.slice(0, index).split("\n").length,
    }),
  );
}
