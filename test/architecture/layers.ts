import { posix } from "node:path";
import { importsOf, parse } from "./syntax.ts";

/** The project's source files: path from its root, and source. */
export type Modules = ReadonlyMap<string, string>;

/**
 * The modules of `src`, lowest first. A module is a folder. It imports modules that stand before
 * it, and only through their `index.ts`. What a lower module must trigger in a higher one goes
 * through an event or through the services that the engine passes in.
 */
export const moduleOrder = [
  "kernel",
  "ports",
  "store",
  "queue",
  "operations",
  "events",
  "accounts",
  "operators",
  "contacts",
  "senders",
  "conversations",
  "consents",
  "messages",
  "observations",
  "sentiment",
  "agents",
  "webchat",
  "webhooks",
  "backlog",
  "sandbox",
  "privacy",
  "api",
  "host",
] as const;

/**
 * Imports that go up. A conversation shows its last message, and so reads the rows of messages.
 */
const upward = new Set(["src/conversations/show.ts imports src/messages/rows.ts"]);

/** The only files of `src` that are in no folder. They may import every module. */
const looseFiles = new Set(["engine", "index", "modules"]);

/** Modules that every adapter may import. */
const adaptersMayImport = ["kernel", "ports"];

/** What a kind of adapter may import besides: modules of `src` and other kinds of adapters. */
const adaptersMayAlsoImport: Readonly<Record<string, readonly string[]>> = {
  http: ["api", "engine", "operations"],
  // Rule-based models use the words of a language, and read answers as playbooks do. Calls of
  // language models wait before they are repeated.
  models: ["adapters/language", "adapters/system", "agents"],
  // A page calls the API for the people that its host lets in. The browser halves use the types that
  // users import.
  web: ["accounts", "api", "index", "operations"],
  // The command line puts an engine together, as applications do. Its sample shop has the
  // sandbox's assistant. It compares the engines on a database as they do themselves.
  cli: [
    "adapters/entry",
    "adapters/http",
    "adapters/standard",
    "adapters/storage",
    "adapters/testing",
    "adapters/transport",
    "adapters/web",
    "api",
    "events",
    "operations",
    "queue",
    "sandbox",
    "webhooks",
  ],
  // A world of engines puts them together, and looks for jobs that are still to be done. The
  // conformance suite of storages also checks the transactions over them, that of models checks
  // answers as the engine does, and that of mounts takes the engine's place.
  testing: ["adapters/entry", "agents", "api", "queue", "store"],
};

/** They compute, or tell who called. None does I/O, so everything can be replayed. */
const builtinsOfSrc = new Set(["node:crypto", "node:async_hooks"]);

/** What the build writes for `src`, as `imports` of `package.json` names it. */
const builtForSrc = "#descriptions";

/** What the pages' browser halves are built from. The build bundles it. */
const bundled = new Set(["preact", "@preact/signals", "uplot"]);

/** Stands in for the server that a user has. */
const server = "test/support/postgres/server.ts";

const browserHalf = /^adapters\/web\/([^/]+)\/browser\//;

/** Returns one sentence for each import that breaks a rule, and for each cycle. */
export function misplacedImports(modules: Modules, dependencies: readonly string[]): string[] {
  const graph = new Map<string, string[]>();
  const findings: string[] = [];
  for (const [path, source] of modules) {
    const targets: string[] = [];
    for (const { from, isType } of importsOf(parse(source, path))) {
      const local = from.startsWith(".");
      const target = local ? posix.join(posix.dirname(path), from) : from;
      if (/\.css(?:\?inline)?$/.test(target) && browserHalf.test(path)) continue;
      const reason =
        refusalInPage(path, target, isType) ??
        (local ? refusal(path, target, modules) : refusalOutside(path, from, dependencies));
      const finding = `${path} imports ${target}`;
      if (upward.has(finding)) continue;
      if (local && modules.has(target)) targets.push(target);
      if (reason !== undefined) findings.push(`${finding}: ${reason}`);
    }
    graph.set(path, targets);
  }
  return [...findings, ...cycles(graph)];
}

/** Pages share only `shared`. What runs in a browser has nothing of the engine but its types. */
function refusalInPage(path: string, target: string, isType: boolean): string | undefined {
  const page = browserHalf.exec(path)?.[1];
  const other = browserHalf.exec(target)?.[1];
  if (page === undefined) {
    return other === undefined ? undefined : "only a browser half may import a browser half";
  }
  if (target === "src/index.ts") {
    return isType ? undefined : "a browser half imports only types of the engine";
  }
  if (target.includes("/") && /^(?:src|adapters)\//.test(target)) {
    return other === page || other === "shared"
      ? undefined
      : "a browser half may import only its own files and adapters/web/shared/browser";
  }
  return undefined;
}

function refusalOutside(
  path: string,
  from: string,
  dependencies: readonly string[],
): string | undefined {
  if (from === "?") return "an import must name its module";
  if (path.startsWith("examples/")) return undefined;
  if (path.startsWith("src/") && from === builtForSrc) return undefined;
  if (from.startsWith("node:")) {
    return path.startsWith("src/") && !builtinsOfSrc.has(from)
      ? `src may import no node built-in but ${[...builtinsOfSrc].join(" and ")}`
      : undefined;
  }
  const name = from.split("/", from.startsWith("@") ? 2 : 1).join("/");
  if (browserHalf.test(path)) {
    return bundled.has(name) ? undefined : `${name} is not among the libraries of the pages`;
  }
  return dependencies.includes(name) ? undefined : `${name} is not a dependency of the package`;
}

function refusal(path: string, target: string, modules: Modules): string | undefined {
  const [root] = path.split("/");
  if (root === "examples") {
    return target.startsWith("examples/") || target === server
      ? undefined
      : "examples may import only what users import";
  }
  if (!modules.has(target)) return "no such file";
  if (root === "adapters") return refusalOfAdapter(path, target);
  return target.startsWith("src/") ? refusalInSrc(path, target) : "src may not import adapters";
}

function refusalOfAdapter(path: string, target: string): string | undefined {
  const [, kind = ""] = path.split("/");
  // The package's main entry binds adapters to the engine, `standard()` returns adapters, and
  // `tidings/ports` exports what authors of adapters need of whole files.
  if (["entry.ts", "ports.ts", "standard.ts"].includes(kind)) return undefined;
  if (target.startsWith(`adapters/${kind}/`)) return undefined;
  const [root, module = ""] = target.split("/");
  const name = module.replace(/\.ts$/, "");
  if (root === "adapters") {
    const known = adaptersMayAlsoImport[kind]?.includes(`adapters/${name}`) === true;
    return known ? undefined : `adapters of kind ${kind} may not import adapters of kind ${name}`;
  }
  const allowed = [...adaptersMayImport, ...(adaptersMayAlsoImport[kind] ?? [])];
  if (!allowed.includes(name)) return `adapters of kind ${kind} may not import ${name}`;
  return refusalPastIndex(target);
}

function refusalInSrc(path: string, target: string): string | undefined {
  const [own, other] = [moduleOf(path), moduleOf(target)];
  const stranger = [own, other].find((name) => name === undefined);
  if (own === undefined || other === undefined || stranger !== undefined) {
    return `${own === undefined ? path : target} is in no module`;
  }
  if (own === other && own !== "") return undefined;
  if (own === "") {
    // If an index exported the descriptor, every import of the module would load its routes and
    // jobs.
    const isDescriptor = path === "src/modules.ts" && target.endsWith("/descriptor.ts");
    return other === "" || isDescriptor ? undefined : refusalPastIndex(target);
  }
  if (other === "" || rank(other) > rank(own)) return `${own} stands below ${other || target}`;
  return refusalPastIndex(target);
}

/** Modules are imported through their index. */
function refusalPastIndex(target: string): string | undefined {
  const [, module, file] = target.split("/");
  return file === undefined || (file === "index.ts" && target.split("/").length === 3)
    ? undefined
    : `another module imports only src/${module}/index.ts`;
}

const rank = (module: string): number => (moduleOrder as readonly string[]).indexOf(module);

/** A file's module; empty for an allowed loose file, `undefined` for a misplaced one. */
function moduleOf(path: string): string | undefined {
  const [, first = "", second] = path.split("/");
  if (second === undefined) return looseFiles.has(first.replace(/\.ts$/, "")) ? "" : undefined;
  return rank(first) !== -1 ? first : undefined;
}

/** Returns each cycle once, as the path around it. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const findings: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    if (trail.includes(path)) {
      findings.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`);
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return findings;
}
