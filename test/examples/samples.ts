/** The code in a Markdown document, as programs. */
import { readFileSync } from "node:fs";

export interface Sample {
  /** The document and the line on which the program starts in it, such as `docs/http.md:7`. */
  readonly name: string;
  /** The heading above the program. */
  readonly heading: string;
  readonly code: string;
  /** What the program prints, according to the document. */
  readonly output: string;
  /** Output whose numbers, ids and indented lines vary from version to version: a `console` block. */
  readonly outline: string;
  /** The HTML page that the program serves from `public`. Empty if the document shows none. */
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
  readonly heading: string;
  code: string;
  output: string;
  outline: string;
  page: string;
  readonly requests: { readonly command: string; response: string }[];
}

export interface Block {
  readonly heading: string;
  readonly language: string;
  readonly content: string;
  readonly line: number;
}

/**
 * A `ts` block that creates an engine or a world begins a program, and later `ts` blocks continue
 * it. A `text` block is the program's output, a `console` block an outline of it, and an `html` block is the page that it serves. A `sh` block that
 * begins with `curl` is a request to its server, and the `json` block after it is the response.
 */
export function samplesOf(document: string): Sample[] {
  const samples: Draft[] = [];
  for (const { heading, language, content, line } of blocksOf(readFileSync(document, "utf8"))) {
    if (language === "ts" && /new MessagingEngine\(|\bworld\(\{/.test(content)) {
      samples.push({
        name: `${document}:${line}`,
        heading,
        code: content,
        output: "",
        outline: "",
        page: "",
        requests: [],
      });
      continue;
    }
    const current = samples.at(-1);
    if (current === undefined) {
      if (language === "ts") {
        throw new Error(
          `${document}:${line}: this block continues a program, but none has started`,
        );
      }
    } else if (language === "ts") current.code += content;
    else if (language === "text") current.output += content;
    else if (language === "console") current.outline += content;
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

/** The blocks of code in a Markdown text, in their order. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(
    ({ index, 1: language = "", 2: content = "" }) => {
      const before = markdown.slice(0, index);
      return {
        heading: /^#+ (.+)$/m.exec(before.slice(before.lastIndexOf("\n#") + 1))?.[1] ?? "",
        language,
        content,
        line: before.split("\n").length,
      };
    },
  );
}

/** The lines of an output that are not indented, without what varies from version to version. */
export function outlineOf(output: string): string[] {
  return output
    .split("\n")
    .filter((line) => /^\S/.test(line))
    .map((line) => line.replaceAll(/\d+/g, "0"));
}

/**
 * Compiler options for samples: a sample may declare what it does not use, and the NestJS sample
 * uses decorators and parameter properties.
 */
export const sampleCompilerOptions = {
  noUnusedLocals: false,
  erasableSyntaxOnly: false,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** A sample runs inside a test, where vitest accepts no further tests. */
const importOfRunner = `import { describe, it } from "vitest";\n`;
const ownRunner = `
const tests: (() => Promise<void>)[] = [];
const describe = (_: string, define: () => void): void => define();
const it = (_: string, run: () => Promise<void>): void => void tests.push(run);
`;
const runTests = "for (const test of tests) await test();\n";

/** Returns a sample as a module: it listens on a free port and exports what must be stopped. */
export function moduleOf({ code }: Sample): string {
  const names = ["app", "engine", "server", "pool", "secret"].filter((name) =>
    new RegExp(`^const (?:${name}|\\{ ${name} \\}) =`, "m").test(code),
  );
  const program = code
    // The blocks of a program with several files import each other.
    .replaceAll(/^.*"\.{1,2}\/[^"]*"\)?;\n/gm, "")
    .replaceAll("listen(3000", "listen(0")
    .replaceAll("port: 3000", "port: 0")
    .replace(importOfRunner, ownRunner);
  const tests = code.includes(importOfRunner) ? runTests : "";
  return `${program}\n${tests}export { ${names.join(", ")} };\n`;
}

type Listener = (...args: unknown[]) => void;

/**
 * Remembers the process's signal handlers. Returns a function that removes and returns newer ones.
 */
export function watchSignalHandlers(): () => Map<string, Listener[]> {
  const handlersOf = (signal: string): Listener[] =>
    process.listeners(signal as "SIGTERM") as Listener[];
  const signals = (): string[] =>
    process
      .eventNames()
      .filter((name) => typeof name === "string" && /^SIG[A-Z]+$/.test(name)) as string[];
  const before = new Map(signals().map((signal) => [signal, handlersOf(signal)]));
  return () => {
    const added = new Map<string, Listener[]>();
    for (const signal of signals()) {
      const newer = handlersOf(signal).filter(
        (each) => before.get(signal)?.includes(each) !== true,
      );
      for (const each of newer) process.removeListener(signal, each);
      added.set(signal, newer);
    }
    return added;
  };
}
