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
  /** The `curl` commands against its server. */
  readonly requests: readonly SampleRequest[];
}

export interface SampleRequest {
  readonly command: string;
  /** The fields of the response that the document shows, as JSON; empty where it shows none. */
  readonly response: string;
}

interface Draft {
  readonly name: string;
  code: string;
  output: string;
  page: string;
  readonly requests: { readonly command: string; response: string }[];
}

interface Block {
  readonly language: string;
  readonly content: string;
  readonly line: number;
}

/**
 * A `ts` block that creates an engine begins a program, and later `ts` blocks continue it. A `text`
 * block is the program's output, and an `html` block is the page that it serves. A `sh` block that
 * begins with `curl` is a request to its server, and the `json` block after it is the response.
 */
export function samplesOf(document: string): Sample[] {
  const samples: Draft[] = [];
  for (const { language, content, line } of blocksOf(readFileSync(document, "utf8"))) {
    if (language === "ts" && content.includes("new MessagingEngine(")) {
      samples.push({
        name: `${document}:${line}`,
        code: content,
        output: "",
        page: "",
        requests: [],
      });
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
    else if (language === "sh" && content.startsWith("curl ")) {
      current.requests.push({ command: content, response: "" });
    } else if (language === "json") {
      const request = current.requests.at(-1);
      if (request !== undefined) request.response = content;
    }
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
