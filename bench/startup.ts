import { execFileSync } from "node:child_process";
import { medians, ratio, table, type Contender } from "./support/measure.ts";

const rounds = 15;

const ours = "import tidings, tidings/memory and tidings/sandbox";
const firstSend = "the first send after it, on memory";
const theirs = "import express";

const dist = (name: string): string => new URL(`../dist/${name}.js`, import.meta.url).href;

/** Prints the milliseconds of one step in a process of its own. */
const scripts: Readonly<Record<string, string>> = {
  [theirs]: timed('await import("express");'),
  [ours]: timed(
    ["index", "memory", "sandbox"].map((name) => `await import("${dist(name)}");`).join(" "),
  ),
  [firstSend]: `
    const { MessagingEngine } = await import("${dist("index")}");
    const { memory } = await import("${dist("memory")}");
    const { sandbox } = await import("${dist("sandbox")}");
    ${timed(`
      const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
      await engine.messages.send({ to: "+15005550001", body: "Hello" });
    `)}
    process.exit();
  `,
};

function timed(work: string): string {
  return `const began = performance.now(); ${work} console.log(performance.now() - began);`;
}

/** How long it takes to load the package and to send a first message, beside loading Express. */
export async function startup(): Promise<string> {
  execFileSync("npm", ["run", "--silent", "compile"], { stdio: ["ignore", "ignore", "inherit"] });
  const contenders = Object.entries(scripts).map(([name, script]): Contender => ({
    name,
    run: () => {
      const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        cwd: new URL("..", import.meta.url),
      });
      return Promise.resolve({ items: 1, ms: Number(printed) });
    },
  }));
  const rates = await medians(contenders, rounds);
  const msOf = (name: string): number => 1_000 / (rates.get(name) ?? Number.NaN);
  const toExpress = (name: string): string => ratio(msOf(name) / msOf(theirs));
  console.log(`\nStarting up: milliseconds, each in a new process (median of ${rounds})\n`);
  console.log(
    table(
      ["", "ms", "ratio to import express"],
      [...rates.keys()].map((name) => [name, msOf(name).toFixed(1), toExpress(name)]),
    ),
  );
  return `startup: ${toExpress(ours)} of importing Express, and ${toExpress(firstSend)} for the first send`;
}
