import type { Finding } from "./invariant.ts";
import type { Trace } from "./trace.ts";

const mostLines = 40;

/** A failing seed, told: what is broken, what led there, and how to see it again. */
export function story(seed: number, steps: number, finding: Finding, trace: Trace): string {
  const past = trace.entries.slice(0, finding.at);
  const messages = new Set(finding.about);
  const engines = new Set(
    past
      .filter(({ about }) => about.some((id) => messages.has(id)))
      .flatMap(({ about }) => about.filter((id) => id.startsWith("engine"))),
  );
  const told = past.filter(({ about, says }) => {
    if (about.some((id) => messages.has(id)) || about.length === 0) return true;
    return (
      about.length === 1 && about.some((id) => engines.has(id)) && /crashes|starts|stop/.test(says)
    );
  });
  const lines = told.slice(-mostLines).map(({ at, says }) => `  ${seconds(at)}  ${says}`);
  const cut = told.length > mostLines ? [`  … ${told.length - mostLines} earlier lines`] : [];
  return [
    `seed ${seed} broke "${finding.invariant}"`,
    `  ${finding.says}`,
    "What led there:",
    ...cut,
    ...lines,
    `Again: npm run simulate -- --seed ${seed} --steps ${steps}`,
  ].join("\n");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`.padStart(12);
}
