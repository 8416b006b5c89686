import { posix } from "node:path";
import { importsOf, parse } from "./syntax.ts";

/** The project's modules: path from its root, and source. */
export type Modules = ReadonlyMap<string, string>;

/**
 * Who stands on whom in `src`: a layer may import those listed before it, and itself. Layers on one line stand side by side
 * and must not know each other.
 */
const layers: readonly (readonly string[])[] = [
  [
    "errors",
    "ids",
    "scope",
    "options",
    "ports",
    "destinations",
    "time-zones",
    "deadline",
    "semaphore",
  ],
  ["transactions"],
  ["settings", "signal", "validation"],
  ["follower"],
  ["operation"],
  ["pagination"],
  ["fields"],
  ["domain"],
  ["problem"],
  ["events", "idempotency", "rate-limits"],
  ["commands", "host-policies", "key-ring", "schema"],
  ["runtime"],
  ["agents", "execute", "procedures", "transport-sink", "webchat", "webhooks"],
  ["jobs", "dispatch", "api"],
  ["account-handle", "api-backend", "consumers", "transports"],
  ["account-operations", "work"],
  ["engine"],
  ["index"],
];

/** These are one: ids are drawn from a clock, and ports speak of ids and of destinations. */
const bottom = new Set(layers[0]);

/** What a job is and the loop that runs it know each other. */
const partners = new Set(["jobs dispatch", "dispatch jobs"]);

/** What users import into their tests stands beside the engine: on the ports and transactions, and nothing stands on it. */
const beside = "testing";
const belowTesting = new Set(layers.slice(0, 2).flat());

/** What the kinds of adapters may import beside `errors`, `ids`, `scope` and `ports`. */
const adaptersMayAlsoImport: Readonly<Record<string, readonly string[]>> = {
  storage: ["domain"],
  transport: [],
  "http-client": [],
  system: [],
  transactions: [],
  http: ["api", "engine"],
  models: ["domain"],
  sentiment: [],
};

const builtinsOfSrc = new Set(["node:crypto"]);

/** One sentence for each import that goes against DESIGN §2, and for each circle. */
export function misplacedImports(modules: Modules, dependencies: readonly string[]): string[] {
  const graph = new Map<string, string[]>();
  const findings: string[] = [];
  for (const [path, source] of modules) {
    const targets: string[] = [];
    for (const { from } of importsOf(parse(source))) {
      const local = from.startsWith(".");
      const target = local ? posix.join(posix.dirname(path), from) : from;
      if (local && modules.has(target)) targets.push(target);
      const reason = local
        ? refusal(path, target, modules)
        : refusalOutside(path, from, dependencies);
      if (reason !== undefined) findings.push(`${path} imports ${target}: ${reason}`);
    }
    graph.set(path, targets);
  }
  return [...findings, ...circles(graph)];
}

function refusalOutside(
  path: string,
  from: string,
  dependencies: readonly string[],
): string | undefined {
  if (from === "?") return "an import must name its module";
  if (path.startsWith("examples/")) return undefined;
  if (from.startsWith("node:")) {
    return path.startsWith("src/") && !builtinsOfSrc.has(from)
      ? "src knows no node built-in but node:crypto"
      : undefined;
  }
  const name = from.split("/", from.startsWith("@") ? 2 : 1).join("/");
  return dependencies.includes(name) ? undefined : `${name} is not a dependency of the package`;
}

/** Stands in for the server that a user has. */
const server = "test/support/postgres-server.ts";

function refusal(path: string, target: string, modules: Modules): string | undefined {
  const [root] = path.split("/");
  if (root === "examples") {
    return target.startsWith("examples/") || target === server
      ? undefined
      : "examples import what users import";
  }
  if (!modules.has(target)) return "no such module";
  if (root === "adapters") return refusalOfAdapter(path, target);
  return target.startsWith("src/") ? refusalInSrc(path, target) : "src never imports adapters";
}

function refusalOfAdapter(path: string, target: string): string | undefined {
  const [, kind = ""] = path.split("/");
  const extra = adaptersMayAlsoImport[kind];
  if (extra === undefined) {
    return `which kind of adapter is ${kind}? Place it in test/architecture/layers.ts`;
  }
  if (target.startsWith(`adapters/${kind}/`)) return undefined;
  if (target.startsWith("adapters/")) return "adapters of different kinds don't know each other";
  const layer = layerOf(target);
  return bottom.has(layer) || extra.includes(layer)
    ? undefined
    : `adapters of kind ${kind} don't know ${layer}`;
}

function refusalInSrc(path: string, target: string): string | undefined {
  const [own, other] = [layerOf(path), layerOf(target)];
  if (own === beside) {
    return other === beside || belowTesting.has(other)
      ? undefined
      : "testing stands on ports and transactions";
  }
  if (other === beside) return "nothing in the engine stands on testing";
  const [rank, below] = [own, other].map((layer) =>
    layers.findIndex((line) => line.includes(layer)),
  );
  if (rank === -1 || below === -1) {
    return `which layer is ${rank === -1 ? own : other}? Place it in test/architecture/layers.ts`;
  }
  if (own === "domain" && other === "domain") return refusalOfDomain(path, target);
  if (own === "commands" && other === "commands" && !target.startsWith("src/commands/steps/")) {
    return "a command never calls a command: what follows is a job";
  }
  const allowed = own === other || Number(below) < Number(rank) || partners.has(`${own} ${other}`);
  return allowed || (bottom.has(own) && bottom.has(other))
    ? undefined
    : `${own} stands below ${other}, or beside it`;
}

/** `src/domain/<noun>/…` is a noun's own; `src/domain/<file>` is what they share. */
function refusalOfDomain(path: string, target: string): string | undefined {
  const [noun, file] = target.split("/").slice(2);
  if (file === undefined || path.startsWith(`src/domain/${noun}/`)) return undefined;
  return file === "types.ts" || file === "rules.ts"
    ? undefined
    : "domains import only each other's types.ts and rules.ts";
}

function layerOf(path: string): string {
  const [, name = ""] = path.split("/");
  return name.replace(/\.ts$/, "");
}

/** Each circle once, as the way around it. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const findings: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (path: string): void => {
    if (way.includes(path)) {
      findings.push(`circle: ${[...way.slice(way.indexOf(path)), path].join(" → ")}`);
      return;
    }
    if (done.has(path)) return;
    way.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    way.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return findings;
}
